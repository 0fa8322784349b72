"""Two hospitals join their patients by a hash of the address, and add up scores.

Nobody learns who the patients are, nor who else is a patient of the other hospital.
"""

import symbolon as sy

PROGRAM = """
struct Patient { id: u128, score: u16 }

pub const N: usize = 4;

fn main(north: [Patient; N] from 0, south: [Patient; N] from 1)
    -> (patients: u8 to all, score: u32 to all)
{
    let joined = std::psi::join_unsorted(
        [(p.id, p.score) for p in north],
        [(p.id, p.score) for p in south],
    );
    let (mut patients, mut score) = (0, 0);
    for row in joined {
        if let Some((_, ours, theirs)) = row {
            if ours != 0 && theirs != 0 {
                patients += 1;
                score += (ours as u32) + (theirs as u32);
            }
        }
    }
    (patients, score)
}
"""

NORTH = {
    "email": ["ann@example.com", "bob@example.com", "eve@example.com", "joe@example.com"],
    "score": [10, 20, 30, 40],
}
SOUTH = {
    "email": ["eve@example.com", "max@example.com", "ann@example.com", "zoe@example.com"],
    "score": [1, 2, 3, 4],
}


def main() -> None:
    program = sy.source(PROGRAM)
    columns = ["email|sha256", "score"]
    result = sy.simulate(program, north=sy.Table(NORTH, columns), south=sy.Table(SOUTH, columns))
    print("patients of both:", result["patients"])
    print("their scores:", result["score"])


if __name__ == "__main__":
    main()
