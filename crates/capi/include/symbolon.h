/*
 * Symbolon: maliciously secure computation of Boolean circuits. docs/c.md is a guide.
 *
 * Made of the sources in crates/capi; do not edit.
 *
 * Rules for callers:
 * - A function that can fail returns a status and writes its result only when that is OK. If
 *   `error` is not null, it gets the error, to be freed, or null where there is none.
 * - A handle is freed by the function for it, once; freeing null does nothing. Handles may be freed
 *   in any order.
 * - One thread at a time uses a handle, and only symbolon_cancel_now may be called at any time. A
 *   circuit, a configuration and a store that calls only read may serve several threads, and so
 *   may a node and a call.
 * - Functions that compute or wait do so on a thread of the library, whatever stack the caller has,
 *   and return when it ends.
 * - Strings are UTF-8 and end with a zero byte. What a function returns a pointer to belongs to the
 *   handle that was asked, and lives as long.
 * - A null pointer where something is needed, or a string that is not UTF-8, has status USAGE.
 *   So has a count beyond a limit; the array is not read.
 */


#ifndef SYMBOLON_H
#define SYMBOLON_H

#include <stddef.h>
#include <stdint.h>

// The number of this interface. It is raised when a program that was compiled with an earlier
// header can no longer run with the library.
#define SYMBOLON_ABI_VERSION 1

// How a call ended: the exit codes of the command.
typedef enum {
    // All is well.
    SYMBOLON_STATUS_OK = 0,
    // An argument, a file, a key or a store is unusable; nothing was computed.
    SYMBOLON_STATUS_USAGE = 2,
    // A peer is absent, gone, silent, or holds another key.
    SYMBOLON_STATUS_PEER = 3,
    // The parties were asked for different computations.
    SYMBOLON_STATUS_INCOMPATIBLE = 4,
    // A check failed: a peer cheated, or its bytes were changed on the way. No output was
    // released.
    SYMBOLON_STATUS_MISBEHAVED = 5,
    // An assert of the program failed: all outputs are zero.
    SYMBOLON_STATUS_ASSERT = 6,
    // A defect of this library.
    SYMBOLON_STATUS_INTERNAL = 70,
    // This machine has no file descriptors, memory or threads left.
    SYMBOLON_STATUS_SYSTEM = 71,
    // A disk is full.
    SYMBOLON_STATUS_UNWRITTEN = 74,
    // The call was cancelled.
    SYMBOLON_STATUS_INTERRUPTED = 130,
} symbolon_status;

// A call of a function of a node.
typedef struct symbolon_call symbolon_call;

// Cancels sessions, from any thread.
typedef struct symbolon_cancel symbolon_cancel;

// A circuit.
typedef struct symbolon_circuit symbolon_circuit;

// How a session is reached and what it is asked to do. It may serve several sessions.
typedef struct symbolon_config symbolon_config;

// An error. It never holds a value of an input or a key.
typedef struct symbolon_error symbolon_error;

// A party's inputs for a circuit; wiped when they are freed.
typedef struct symbolon_inputs symbolon_inputs;

// What a node is told before it starts.
typedef struct symbolon_node_config symbolon_node_config;

// A node: it keeps sessions with its peers open, and executions of its functions prepared.
typedef struct symbolon_node symbolon_node;

// The outputs of a run; wiped when they are freed.
typedef struct symbolon_outputs symbolon_outputs;

// A session with all peers.
typedef struct symbolon_session symbolon_session;

// A directory with material of one party, of which nothing is used twice.
typedef struct symbolon_store symbolon_store;

// A `pub const` of a program, and the value it is to have, as text.
typedef struct {
    // Its name.
    const char *name;
    // Its value, as the program would have it: `32`, `true`.
    const char *value;
} symbolon_constant;

// A party, as the others know it.
typedef struct {
    // `HOST:PORT`, where parties with higher numbers dial it. The last party needs none: null.
    const char *address;
    // The fingerprint of its key, 64 hexadecimal digits. Of this party itself it may be null.
    const char *fingerprint;
} symbolon_peer;

// Something that happened. Nothing in it is secret. What it points to lives until the call ends.
typedef struct {
    // Its name, as in the command's events: `listening`, `connecting`, `connected`, `retrying`,
    // `rejected`, `phase-began`, `phase-ended`, `work`.
    const char *event;
    // The phase, or null.
    const char *phase;
    // What is counted, `triples`, `gates` or `evaluations`, or null.
    const char *step;
    // An address or a reason, or null.
    const char *text;
    // The other party, or -1.
    int32_t party;
    // How many are done.
    uint64_t done;
    // How many there are to do.
    uint64_t total;
    // Bytes sent so far in all phases of this name.
    uint64_t bytes_sent;
    // Bytes received so far in all phases of this name.
    uint64_t bytes_received;
} symbolon_event;

// Is called with each event, and with the pointer that was given with it. Threads of the library
// call it, a few times a second, also while the program's own thread is inside a call. While it
// runs, it may call only `symbolon_cancel_now`. It must return: neither `longjmp` nor an exception
// of C++ may leave it.
typedef void (*symbolon_hear)(const symbolon_event *event, void *data);

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The version of the library, such as `0.1.0`.
const char *symbolon_version(void);

// The number of the interface that the library has. A program may call it if this is the
// `SYMBOLON_ABI_VERSION` of the header that the program was compiled with.
uint32_t symbolon_abi_version(void);

// The version of the messages, which all parties must have in common. `symbolon --version` shows
// it, too.
uint32_t symbolon_wire_version(void);

// What went wrong, as one line: what names and peers contribute is escaped, so that a terminal
// can be given it.
const char *symbolon_error_text(const symbolon_error *error);

// A name for programs, which never changes: what went wrong within the class, such as
// `timed-out`.
const char *symbolon_error_code(const symbolon_error *error);

// The code of the check that failed; null if none did.
const char *symbolon_error_check(const symbolon_error *error);

// The party that the error names, accused or not; -1 if it names none or several.
int32_t symbolon_error_party(const symbolon_error *error);

// Frees an error.
void symbolon_error_free(symbolon_error *error);

// Builds a built-in circuit, such as `aes128` or `add:32`; `symbolon circuit list` shows them.
symbolon_status symbolon_circuit_builtin(const char *name,
                                         symbolon_circuit **circuit,
                                         symbolon_error **error);

// Reads a circuit file of any format; a `.sym` program is compiled with
// its own constants, and for as many parties as it names.
symbolon_status symbolon_circuit_read(const char *path,
                                      symbolon_circuit **circuit,
                                      symbolon_error **error);

// Compiles the function `entry` (`main`, if that is null) of the `.sym` program in `path`, with
// `count` of its constants set, at most 4096. If `parties` is 0, the program says how many parties
// there are, or there are two.
symbolon_status symbolon_circuit_compile(const char *path,
                                         const char *entry,
                                         const symbolon_constant *constants,
                                         size_t count,
                                         uint16_t parties,
                                         symbolon_circuit **circuit,
                                         symbolon_error **error);

// Frees a circuit.
void symbolon_circuit_free(symbolon_circuit *circuit);

// Makes a key pair in a new file that only this user may read.
symbolon_status symbolon_key_create(const char *path, symbolon_error **error);

// Writes the fingerprint of a key to `fingerprint`: 64 hexadecimal digits and a zero byte.
symbolon_status symbolon_key_fingerprint(const char *path,
                                         char (*fingerprint)[65],
                                         symbolon_error **error);

// Describes a session over TLS among `count` parties, 2 to 256, of which this one has the number
// `party`, from 0, and the key in the file `key`.
//
// Of each two parties, the one with the lower number listens at its address and the other dials.
// If `listen` is not null, this party opens its port there instead, as with `0.0.0.0:7000`.
symbolon_status symbolon_config_new(uint16_t party,
                                    const char *key,
                                    const char *listen,
                                    const symbolon_peer *peers,
                                    size_t count,
                                    symbolon_config **config,
                                    symbolon_error **error);

// Sets a parameter by its name in settings files:
//
// `protocol`, `rho`, `form`, `ot`, `threads`, `batch`, `in_flight`, `mac_bits`, `psi`,
// `kappa_b`, `kappa_b_per`, `segment_gates`, `pool_gates`, `components`, `mac`,
//
// or `timeout` (seconds). All parties must set the same, but for `timeout`, and for `form` and
// `ot`, which the others may leave out if one party sets them.
//
// Values are those of the command's options. Names, as those of components, are in one text with
// `; ` between them. `none` undoes an option of a protocol, and `by cost` the names of components.
// An option that the protocol does not have is an error when a session begins.
symbolon_status symbolon_config_set(symbolon_config *config,
                                    const char *key,
                                    const char *value,
                                    symbolon_error **error);

// Has the dealer at `address`, `HOST:PORT`, deal what the parties would otherwise make among
// themselves; `fingerprint` is that of its key. All parties must name the same dealer. It learns
// all inputs if it works together with any party.
symbolon_status symbolon_config_dealer(symbolon_config *config,
                                       const char *address,
                                       const char *fingerprint,
                                       symbolon_error **error);

// Sets a callback for the progress of sessions of this configuration. It is called with each event
// and with `data`, which must be usable from any thread until the sessions end. A null `hear` sets
// none for sessions to come.
symbolon_status symbolon_config_on_progress(symbolon_config *config,
                                            symbolon_hear hear,
                                            void *data,
                                            symbolon_error **error);

// Has `cancel` cancel the sessions of this configuration.
symbolon_status symbolon_config_cancelled_by(symbolon_config *config,
                                             const symbolon_cancel *cancel,
                                             symbolon_error **error);

// Frees a configuration.
void symbolon_config_free(symbolon_config *config);

// Makes a handle that cancels sessions.
symbolon_cancel *symbolon_cancel_new(void);

// Cancels: calls that wait or compute end within a fraction of a second with the status
// `INTERRUPTED`, and so does every later one. Any thread may call it at any time, but no signal
// handler.
void symbolon_cancel_now(const symbolon_cancel *cancel);

// Frees a handle that cancels.
void symbolon_cancel_free(symbolon_cancel *cancel);

// Begins to collect the inputs that `party` has in `circuit`.
symbolon_status symbolon_inputs_new(const symbolon_circuit *circuit,
                                    uint16_t party,
                                    symbolon_inputs **inputs,
                                    symbolon_error **error);

// Sets an input from text as the command takes it: `42`, `-5`, `hex:01ff`, `[1, 2, 3]`, `true`.
symbolon_status symbolon_inputs_text(symbolon_inputs *inputs,
                                     const char *name,
                                     const char *value,
                                     symbolon_error **error);

// Sets an input from an unsigned integer that fits its width.
symbolon_status symbolon_inputs_uint(symbolon_inputs *inputs,
                                     const char *name,
                                     uint64_t value,
                                     symbolon_error **error);

// Sets an input from `count` bits, a byte of 0 or 1 each, first wire first. Wire 0 of an integer
// is its lowest bit.
symbolon_status symbolon_inputs_bits(symbolon_inputs *inputs,
                                     const char *name,
                                     const uint8_t *bits,
                                     size_t count,
                                     symbolon_error **error);

// Sets an input from `count` bytes: eight wires each, the first wire being the lowest bit of the
// first byte. Unused bits of the last byte are zero.
symbolon_status symbolon_inputs_bytes(symbolon_inputs *inputs,
                                      const char *name,
                                      const uint8_t *bytes,
                                      size_t count,
                                      symbolon_error **error);

// Wipes and frees inputs.
void symbolon_inputs_free(symbolon_inputs *inputs);

// How many outputs there are, learnt or not.
size_t symbolon_outputs_count(const symbolon_outputs *outputs);

// The name of the output at a place, from 0; null if there is none.
const char *symbolon_outputs_name(const symbolon_outputs *outputs, size_t place);

// Writes 1 if this party learns the output, and 0 if it does not.
symbolon_status symbolon_outputs_is_learnt(const symbolon_outputs *outputs,
                                           const char *name,
                                           uint8_t *is_learnt,
                                           symbolon_error **error);

// All outputs as a JSON list, each as the command writes it with `--json`: an object with `name`,
// `type`, `receivers`, `bits`, `hex` and `value`. The last three are null where this party does
// not learn the output. docs/reference/json.md has more.
symbolon_status symbolon_outputs_json(const symbolon_outputs *outputs,
                                      const char **json,
                                      symbolon_error **error);

// An output as text, as the command prints it.
symbolon_status symbolon_outputs_text(const symbolon_outputs *outputs,
                                      const char *name,
                                      const char **value,
                                      symbolon_error **error);

// An output of at most 64 bits as an unsigned integer, whatever its type. Wire 0 is the lowest
// bit.
symbolon_status symbolon_outputs_uint(const symbolon_outputs *outputs,
                                      const char *name,
                                      uint64_t *value,
                                      symbolon_error **error);

// An integer or a truth value as a signed integer: an `int` of at most 64 bits, a `uint` of at
// most 63, or a `bool`.
symbolon_status symbolon_outputs_int(const symbolon_outputs *outputs,
                                     const char *name,
                                     int64_t *value,
                                     symbolon_error **error);

// The bits of an output, a byte of 0 or 1 each, first wire first, and how many there are.
symbolon_status symbolon_outputs_bits(const symbolon_outputs *outputs,
                                      const char *name,
                                      const uint8_t **bits,
                                      size_t *count,
                                      symbolon_error **error);

// The bytes of an output, and how many there are: eight wires each, the first wire being the
// lowest bit of the first byte. So an array of bytes is as it is, and an integer in little-endian
// order. They are wiped with the outputs.
symbolon_status symbolon_outputs_bytes(const symbolon_outputs *outputs,
                                       const char *name,
                                       const uint8_t **bytes,
                                       size_t *count,
                                       symbolon_error **error);

// Wipes and frees outputs.
void symbolon_outputs_free(symbolon_outputs *outputs);

// Meets all peers, agrees with them on `circuit` and the parameters, and does the set-up.
symbolon_status symbolon_connect(const symbolon_config *config,
                                 const symbolon_circuit *circuit,
                                 symbolon_session **session,
                                 symbolon_error **error);

// Goes on to another circuit in the same session, without a new set-up; all parties do so.
symbolon_status symbolon_next_circuit(symbolon_session *session,
                                      const symbolon_circuit *circuit,
                                      symbolon_error **error);

// Computes the session's circuit on this party's inputs. It may be called again, with other
// inputs. It is one evaluation, whatever `batch` was set to.
symbolon_status symbolon_evaluate(symbolon_session *session,
                                  const symbolon_inputs *inputs,
                                  symbolon_outputs **outputs,
                                  symbolon_error **error);

// Computes the session's circuit on this party's inputs for each evaluation of a batch: on
// `count` of them, which is what `batch` was set to, and at most 2^24. `outputs` has a place for
// each. A failed assert concerns its evaluation alone: only reading those outputs has the status
// ASSERT.
symbolon_status symbolon_evaluate_batch(symbolon_session *session,
                                        const symbolon_inputs *const *inputs,
                                        size_t count,
                                        symbolon_outputs **outputs,
                                        symbolon_error **error);

// Ends a session: its connections are closed and its keys are wiped.
void symbolon_session_free(symbolon_session *session);

// Opens the store in `directory`, or makes it there. If `key_file` is not null, it is encrypted
// under that file, which `symbolon store keygen` makes.
symbolon_status symbolon_store_open(const char *directory,
                                    const char *key_file,
                                    symbolon_store **store,
                                    symbolon_error **error);

// Fills the pools of all parties' stores, together with them, until there is material for this
// many AND gates, and for this many input bits of each party.
symbolon_status symbolon_preprocess(const symbolon_config *config,
                                    const symbolon_store *store,
                                    uint64_t and_gates,
                                    uint64_t input_bits,
                                    symbolon_error **error);

// Prepares `circuit` in all parties' stores, together with them, for `count` runs, each of as many
// evaluations as `batch` says, or of one with `in_flight`: from pools where there are any, from
// new material otherwise.
symbolon_status symbolon_prepare(const symbolon_config *config,
                                 const symbolon_store *store,
                                 const symbolon_circuit *circuit,
                                 uint32_t count,
                                 symbolon_error **error);

// Runs a prepared circuit that all parties hold. It is used up, whatever comes of the run.
symbolon_status symbolon_run_prepared(const symbolon_config *config,
                                      const symbolon_store *store,
                                      const symbolon_circuit *circuit,
                                      const symbolon_inputs *inputs,
                                      symbolon_outputs **outputs,
                                      symbolon_error **error);

// Runs a circuit that was prepared for a batch, and that all parties hold, as
// symbolon_evaluate_batch does. It is used up, whatever comes of the run. With `in_flight`, each
// evaluation takes a prepared circuit of its own, and so `count` of them are used up.
symbolon_status symbolon_run_prepared_batch(const symbolon_config *config,
                                            const symbolon_store *store,
                                            const symbolon_circuit *circuit,
                                            const symbolon_inputs *const *inputs,
                                            size_t count,
                                            symbolon_outputs **outputs,
                                            symbolon_error **error);

// Closes a store.
void symbolon_store_free(symbolon_store *store);

// Describes a node of the party that `config` describes, and of the same peers. Every party that
// others dial has an address, the last one, too, if it is dialled. The node does not report
// progress, and is not cancelled by a symbolon_cancel: freeing it ends it.
symbolon_status symbolon_node_config_new(const symbolon_config *config,
                                         symbolon_node_config **node_config,
                                         symbolon_error **error);

// Adds a function, with the parameters that `config` has now. Its name, and those of calls, have 1
// to 64 letters, digits, `.`, `_` and `-` of ASCII. All parties add the same functions.
symbolon_status symbolon_node_config_add(symbolon_node_config *node_config,
                                         const char *function,
                                         const symbolon_circuit *circuit,
                                         const symbolon_config *config,
                                         symbolon_error **error);

// Sets something of a function, by its name in the settings of `symbolon serve`: `ready`, `low`,
// `side_by_side`, `callers` (numbers, with commas between), `calls`, `calls_per_hour`, `wait` and
// `keep` (seconds), `waiting`.
symbolon_status symbolon_node_config_set(symbolon_node_config *node_config,
                                         const char *function,
                                         const char *key,
                                         const char *value,
                                         symbolon_error **error);

// Keeps prepared executions in a store, so that they outlast a restart. All parties do so, or
// none.
symbolon_status symbolon_node_config_store(symbolon_node_config *node_config,
                                           const symbolon_store *store,
                                           symbolon_error **error);

// Keeps in a folder how many calls were made, for functions with `calls`.
symbolon_status symbolon_node_config_state(symbolon_node_config *node_config,
                                           const char *folder,
                                           symbolon_error **error);

// Frees what a node was told.
void symbolon_node_config_free(symbolon_node_config *node_config);

// Starts a node. It connects to its peers as soon as they are there, and prepares executions.
symbolon_status symbolon_node_start(const symbolon_node_config *node_config,
                                    symbolon_node **node,
                                    symbolon_error **error);

// Writes how many executions of a function are prepared or being prepared; 0 while a peer is away.
symbolon_status symbolon_node_ready(const symbolon_node *node,
                                    const char *function,
                                    size_t *count,
                                    symbolon_error **error);

// Waits for a call of a function for which other parties have inputs and this one has given none,
// for at most `seconds`, and writes its name: empty if there is none in time.
symbolon_status symbolon_node_announced(const symbolon_node *node,
                                        const char *function,
                                        double seconds,
                                        char (*name)[65],
                                        symbolon_error **error);

// Gives this party's inputs for the call `name`, the same at all parties, and does not wait. The
// same inputs may be given again, for the same answer.
symbolon_status symbolon_node_call(const symbolon_node *node,
                                   const char *function,
                                   const char *name,
                                   const symbolon_inputs *inputs,
                                   symbolon_call **call,
                                   symbolon_error **error);

// Waits for the answer of a call for at most `seconds`. `outputs` is null if there is none in
// time: the call goes on, and may be waited for again. Each time it gives outputs of their own.
symbolon_status symbolon_call_wait(const symbolon_call *call,
                                   double seconds,
                                   symbolon_outputs **outputs,
                                   symbolon_error **error);

// Frees a call. It goes on: symbolon_node_call with the same inputs finds it again.
void symbolon_call_free(symbolon_call *call);

// Refuses new calls and those that wait, which all parties see, and waits until running ones have
// ended.
symbolon_status symbolon_node_drain(const symbolon_node *node, symbolon_error **error);

// Ends a node at once: calls that run have no answer.
void symbolon_node_free(symbolon_node *node);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* SYMBOLON_H */
