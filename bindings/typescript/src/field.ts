// GF(2^64) modulo x^64 + x^4 + x^3 + x + 1; bit i is the coefficient of x^i. The time that this
// takes depends on the values: they are the client's own, and nobody else's code runs here.

const MASK = (1n << 64n) - 1n;
const TOP = 1n << 63n;
const REDUCTION = 0b11011n;

/** The product of two elements. */
export function multiply(x: bigint, y: bigint): bigint {
    let product = 0n;
    for (let bit = 63n; bit >= 0n; bit -= 1n) {
        const carry = (product & TOP) !== 0n;
        product = (product << 1n) & MASK;
        if (carry) product ^= REDUCTION;
        if ((y >> bit) & 1n) product ^= x;
    }
    return product;
}

/** s^(q+1) + Σ x_i·s^i, i from 1 to d, where q is the smallest power of two above d. */
export function amdTag(blocks: bigint[], s: bigint): bigint {
    let power = s;
    for (let q = 1; q <= blocks.length; q *= 2) power = multiply(power, power);
    return multiply(blocks.reduceRight((sum, block) => multiply(sum, s) ^ block, 0n) ^ power, s);
}
