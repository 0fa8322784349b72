//! The messages of this protocol. G is party 0, which garbles, E party 1. With several executions
//! side by side, numbers of inputs and outputs are those of all.

const TO_EVALUATOR: &str = "G → E";
const TO_GARBLER: &str = "E → G";

symbolon_transport::messages! {
    pub TRANSFER_KEYS = "duplo: transfer keys" {
        phase: "any",
        route: TO_EVALUATOR,
        length: "16·(1 + e + ρ), for e input bits of E",
        carries: "corrections: Δ of the oblivious transfers, and all R",
        step: "KNRTT17, PreProcessOTInit",
    }
    pub MASK_BITS = "duplo: mask bits" {
        phase: "any",
        route: TO_EVALUATOR,
        length: "⌈(o + ρ)/8⌉, for o output bits of E",
        carries: "bits that make the masks of indicator bits end in 0",
        step: "KNRTT17, §5.1",
    }
    pub OFFSETS = "duplo: offset bits" {
        phase: "any",
        route: TO_EVALUATOR,
        length: "⌈L/8⌉, for L objects of a kind",
        carries: "bits that make every Δ end in 1",
        step: "KNRTT17, GenWire",
    }
    pub AUTHENTICATOR_KEYS = "duplo: authenticator keys" {
        phase: "any",
        route: TO_EVALUATOR,
        length: "16·b·L, for b wires in a bundle, in pieces of at most 2^18",
        carries: "corrections: keys of authenticators",
        step: "KNRTT17, GenInKeyAuth",
    }
    pub OUTPUT_KEYS = "duplo: output keys" {
        phase: "any",
        route: TO_EVALUATOR,
        length: "16·m·L, in pieces of 2^24, for m outputs of a component",
        carries: "corrections: keys of the outputs of all copies",
        step: "KNRTT17, GenSub",
    }
    pub DIGESTS = "duplo: circuit digests" {
        phase: "any",
        route: TO_EVALUATOR,
        length: "32·L",
        carries: "digests of the tables of all copies",
        step: "KNRTT17, GenSub",
    }
    pub ACCEPTED = "duplo: accepted keys" {
        phase: "any",
        route: TO_EVALUATOR,
        length: "32·b·L, in pieces of at most 2^18",
        carries: "hashes of the two keys of each wire of every authenticator",
        step: "KNRTT17, GenInKeyAuth",
    }
    pub CHOICES = "duplo: sums of choices" {
        phase: "any",
        route: TO_GARBLER,
        length: "⌈ρ/8⌉",
        carries: "sums of the choices of random transfers",
        step: "KNRTT17, PreProcessOTInit",
    }
    pub TRANSFER_SUMS = "duplo: sums of transfers" {
        phase: "any",
        route: TO_GARBLER,
        length: "16·ρ",
        carries: "sums of the results of the same transfers",
        step: "KNRTT17, PreProcessOTInit",
    }
    pub MASK_SUMS = "duplo: sums of masks" {
        phase: "any",
        route: TO_EVALUATOR,
        length: "16·ρ",
        carries: "opened sums of random masks",
        step: "KNRTT17, §5.1",
    }
    pub OPENED_COMPONENT = "duplo: opened component" {
        phase: "any",
        route: TO_EVALUATOR,
        length: "16·(1 + n), for n inputs of the component",
        carries: "Δ of an opened copy, and what is committed to of its inputs",
        step: "KNRTT17, VerSub",
    }
    pub OPENED_AUTHENTICATORS = "duplo: opened authenticators" {
        phase: "any",
        route: TO_EVALUATOR,
        length: "16 for each that is opened, in pieces of 2^24",
        carries: "Δ of the opened authenticators",
        step: "KNRTT17, VerInKeyAuth",
    }
    pub AUTHENTICATOR_SOLDERINGS = "duplo: authenticator solderings" {
        phase: "any",
        route: TO_EVALUATOR,
        length: "16·α for each bundle, and 16·(α − 1) for each of its wires, up to 512 bundles",
        carries: "differences of Δ, and solderings from the head of each bucket",
        step: "KNRTT17, GenSold",
    }
    pub TABLE = "duplo: table" {
        phase: "any",
        route: TO_EVALUATOR,
        length: "32·g, in pieces of 2^24, for g AND gates",
        carries: "the table of a copy that was not opened",
        step: "KNRTT17, GenSub",
    }
    pub COMPONENT_SOLDERINGS = "duplo: component solderings" {
        phase: "any",
        route: TO_EVALUATOR,
        length: "16·(1 + m), and 16·n but for the first copy of a bucket",
        carries: "difference of Δ, solderings of inputs to the first copy and of outputs to their wires",
        step: "KNRTT17, GenSoldSub",
    }
    pub SOLDERINGS = "duplo: solderings" {
        phase: "function-dependent",
        route: TO_EVALUATOR,
        length: "16 for each input of a component and each sum that G learns, in pieces of 2^24",
        carries: "solderings between components",
        step: "KNRTT17, AssembleSubs",
    }
    pub LINKS = "duplo: linked inputs" {
        phase: "function-dependent",
        route: TO_EVALUATOR,
        length: "16 for each bit of an input that is an output of an earlier part",
        carries: "solderings of these outputs to the wires of the inputs",
        step: "KNRTT17, §1.1",
    }
    pub MASKED_INPUTS = "duplo: masked inputs" {
        phase: "online",
        route: TO_GARBLER,
        length: "⌈e/8⌉",
        carries: "E's inputs, masked by its choices",
        step: "KNRTT17, InputE",
    }
    pub INPUT_KEYS = "duplo: input keys" {
        phase: "online",
        route: TO_EVALUATOR,
        length: "16 for each input bit of G",
        carries: "keys of G's inputs",
        step: "KNRTT17, InputG",
    }
    pub OPENED_INPUTS = "duplo: opened inputs" {
        phase: "online",
        route: TO_EVALUATOR,
        length: "16·e",
        carries: "opened sums of keys and transfers",
        step: "KNRTT17, InputE",
    }
    pub INDICATOR_BITS = "duplo: indicator bits" {
        phase: "online",
        route: TO_EVALUATOR,
        length: "16·o",
        carries: "opened sums of indicator bits and masks",
        step: "KNRTT17, OutputE",
    }
    pub RETURNED_KEYS = "duplo: returned keys" {
        phase: "online",
        route: TO_GARBLER,
        length: "16 for each output bit of G that is not constant",
        carries: "keys of G's outputs",
        step: "KNRTT17, OutputG",
    }
}
