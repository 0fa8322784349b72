// Fixed-point numbers, as Rust reads and writes them (crates/circuit/src/value).

import { bitsOf, fromHex, numberOf, toHex } from "./text.js";

/** The most bits of numbers in decimal, and the most after the point. */
const [DECIMAL_BITS, MAX_FRACTION] = [4096, 2048];

/** No number of `DECIMAL_BITS` bits has more digits. */
const MAX_DIGITS = 1234;

/** A number below 10^TINY is 0 in every type. */
const TINY = -1024;

/** Returns the bits of the nearest number with `frac` bits after the point, ties to even. */
export function encodeFixed(written: string, int: number, frac: number): boolean[] {
    const raw = fromHex(written, int + frac);
    if (raw !== undefined) return raw;
    const parts = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(written);
    if (parts === null) throw new TypeError("a decimal number is needed");
    const [, sign, whole = "", fraction = "", power = "0"] = parts;
    const tooLarge = () => new RangeError(`it does not fit into ${int} bits before the point`);
    const digits = (whole + fraction).replace(/^0+/, "").replace(/0+$/, "");
    // The number is 0.digits · 10^point.
    const zeros = /^0*/.exec(whole + fraction)?.[0].length ?? 0;
    const point = whole.length - zeros + Number(power);
    if (digits === "" || point < TINY) return bitsOf(0n, int + frac);
    if (point > MAX_DIGITS) throw tooLarge();
    const after = Math.max(0, digits.length - point);
    if (after > MAX_FRACTION || frac > MAX_FRACTION) {
        throw new RangeError(`more than ${MAX_FRACTION} digits after the point; use \`hex:…\``);
    }
    // digits · 10^(point − length) · 2^frac, rounded.
    const above = 10n ** BigInt(Math.max(0, point - digits.length));
    const below = 10n ** BigInt(after);
    const scaled = (BigInt(digits) * above) << BigInt(frac);
    let [magnitude, rest] = [scaled / below, scaled % below];
    if (2n * rest > below || (2n * rest === below && (magnitude & 1n) === 1n)) magnitude += 1n;
    const number = sign === "-" ? -magnitude : magnitude;
    const most = 1n << BigInt(int + frac) >> 1n;
    if (number !== 0n && (number < -most || number >= most)) throw tooLarge();
    return bitsOf(number, int + frac);
}

/** Returns the exact decimal of a number with `frac` bits after the point. */
export function decodeFixed(bits: boolean[], frac: number): string {
    if (bits.length > DECIMAL_BITS || frac > MAX_FRACTION) return toHex(bits);
    const number = BigInt.asIntN(bits.length, numberOf(bits));
    const magnitude = number < 0n ? -number : number;
    const scale = BigInt(frac);
    // Each bit after the point takes one decimal digit.
    const after = (BigInt.asUintN(frac, magnitude) * 10n ** scale) >> scale;
    const fraction = after.toString().padStart(frac, "0").replace(/0+$/, "");
    return `${number < 0n ? "-" : ""}${magnitude >> scale}.${fraction || "0"}`;
}
