//! Honest runs.

use symbolon_circuit::builder::Builder;
use symbolon_circuit::{Circuit, Receivers, Type};

use super::tools::{Setting, expected, prg, random_inputs, run};
use crate::dualex::psi::PsiForm;

/// Has outputs for both parties, for each alone and for nobody.
pub fn example() -> Circuit {
    let mut b = Builder::new("example");
    let [x, y, z] =
        [("x", 1), ("y", 0), ("z", 1)].map(|(name, owner)| b.input(name, Type::Uint(5), owner));
    let sum = b.add(&x, &y);
    let both = b.and(&x, &z);
    let product = b.mul(&y, &z);
    let only = |party| Receivers::only([party]);
    b.output("sum", &sum, Type::Uint(5), only(1));
    b.output("both", &both, Type::Uint(5), Receivers::All);
    b.output("nobody", &sum, Type::Uint(5), Receivers::Only(vec![]));
    b.output("product", &product, Type::Uint(5), only(0));
    b.finish().unwrap()
}

#[test]
fn both_parties_learn_their_outputs() {
    let mut prg = prg(1);
    let circuit = example();
    for (psi, sizes, lanes) in [
        (PsiForm::Synchronous, [2, 2, 6], 1),
        (PsiForm::Asynchronous, [2, 2, 6], 1),
        (PsiForm::Synchronous, [1, 1, 1], 1),
        (PsiForm::Asynchronous, [1, 3, 5], 2),
        (PsiForm::Synchronous, [5, 3, 20], 3),
    ] {
        let setting = Setting { psi, sizes, lanes, ..Setting::default() };
        let all = random_inputs(&circuit, sizes[0] as usize, &mut prg);
        let ended = run(setting, &circuit, &all, None, |_| {});
        for (party, ended) in (0..).zip(ended) {
            assert_eq!(ended.unwrap(), expected(&circuit, party, &all), "{sizes:?}");
        }
    }
}
