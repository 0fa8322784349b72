// Texts and raw bits, as Rust reads and writes them (crates/circuit/src/value).

const WRONG_HEX = "`hex:` needs hexadecimal digits that fit";

/** Returns a number's bits, the lowest first. */
export function bitsOf(number: bigint, count: number): boolean[] {
    // One conversion for all: shifts of a long number take as long as the number is.
    const digits = BigInt.asUintN(count, number).toString(2).padStart(count, "0");
    return count === 0 ? [] : Array.from(digits, (digit) => digit === "1").reverse();
}

/** Returns the number with these bits, the lowest first. */
export function numberOf(bits: boolean[]): bigint {
    if (bits.length === 0) return 0n;
    return BigInt(`0b${bits.map((bit) => (bit ? "1" : "0")).reverse().join("")}`);
}

/** Returns the bits of `hex:` and digits, the last digit's first; `undefined` for other texts. */
export function fromHex(written: string, width: number): boolean[] | undefined {
    if (!written.startsWith("hex:")) return undefined;
    const digits = written.slice(4);
    const fits = /^[0-9a-fA-F]+$/.test(digits) && digits.length <= Math.ceil(width / 4);
    const number = fits ? BigInt(`0x${digits}`) : -1n;
    if (number < 0n || number >> BigInt(width) !== 0n) throw new RangeError(WRONG_HEX);
    return bitsOf(number, width);
}

/** Returns raw bits as `hex:` and all digits. */
export function toHex(bits: boolean[]): string {
    return `hex:${numberOf(bits).toString(16).padStart(Math.ceil(bits.length / 4), "0")}`;
}

/**
 * Returns the bits of a text that has room for `length` bytes of UTF-8. `hex:` and all digits are
 * raw bits: they are longer than any text of the type.
 */
export function encodeText(text: string, length: number): boolean[] {
    if (text.startsWith("hex:") && text.length === 4 + 2 * length) {
        return fromHex(text, 8 * length) ?? [];
    }
    // An encoder would replace them, and so give another text.
    if (/\p{Surrogate}/u.test(text)) throw new TypeError("half a character is no text");
    if (text.includes("\0")) throw new TypeError("a text has no zero bytes");
    const bytes = new TextEncoder().encode(text);
    if (bytes.length > length) {
        throw new RangeError(`at most ${length} bytes of UTF-8 fit, ${bytes.length} given`);
    }
    const filled = new Uint8Array(length);
    filled.set(bytes);
    return Array.from(filled).flatMap((byte) => bitsOf(BigInt(byte), 8));
}

/** Returns the text with these bits; raw bits if they are none. */
export function decodeText(bits: boolean[]): string {
    const bytes = Uint8Array.from(
        { length: bits.length / 8 }, (_, at) => Number(numberOf(bits.slice(8 * at, 8 * at + 8))),
    );
    let end = bytes.length;
    while (end > 0 && bytes[end - 1] === 0) end -= 1;
    if (bytes.subarray(0, end).includes(0)) return toHex(bits);
    try {
        // A mark of byte order is a character like any other.
        return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes.subarray(0, end));
    } catch {
        return toHex(bits);
    }
}
