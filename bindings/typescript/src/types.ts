// Types of values, as a node says them, and their bits: the first one is the lowest.

import { decodeFixed, encodeFixed } from "./fixed.js";
import { bitsOf, decodeText, encodeText, numberOf } from "./text.js";

export type Type =
    | "bool"
    | "f32"
    | "f64"
    | { uint: number }
    | { int: number }
    | { text: number }
    | { fixed: { int: number; frac: number } }
    | { array: { len: number; elem: Type } }
    | { tuple: Type[] }
    | { struct: { name: string; fields: Field[] } }
    | { enum: { name: string; variants: { name: string; types: Type[] }[] } };

export interface Field {
    name: string;
    type: Type;
}

/**
 * A value. Integers are `bigint`, or `number` where they are safe; fixed-point numbers are decimal
 * texts such as `-1.25`, or numbers; tuples and arrays are arrays; structs are objects. `null` is
 * the first variant of an `Option`, and any other value its second; other enumerations, and an
 * `Option` of an `Option`, are a variant's name, or an object with the name and an array of values.
 */
export type Value = boolean | number | bigint | string | null | Value[] | { [name: string]: Value };

type Variants = { name: string; types: Type[] }[];

function tagBits(variants: Variants): number {
    return Math.ceil(Math.log2(Math.max(1, variants.length)));
}

function total(types: Type[]): number {
    return types.reduce((sum, type) => sum + width(type), 0);
}

/** The number of bits of a type. */
export function width(type: Type): number {
    if (type === "bool") return 1;
    if (type === "f32") return 32;
    if (type === "f64") return 64;
    if ("uint" in type) return type.uint;
    if ("int" in type) return type.int;
    if ("text" in type) return 8 * type.text;
    if ("fixed" in type) return type.fixed.int + type.fixed.frac;
    if ("array" in type) return type.array.len * width(type.array.elem);
    if ("tuple" in type) return total(type.tuple);
    if ("struct" in type) return total(type.struct.fields.map((field) => field.type));
    const { variants } = type.enum;
    return tagBits(variants) + Math.max(0, ...variants.map((variant) => total(variant.types)));
}

/** Returns what an `Option` may hold, for an enumeration of that form. */
function optional(type: Type): Type | undefined {
    if (typeof type === "string" || !("enum" in type)) return undefined;
    const { name, variants } = type.enum;
    const [none, some] = variants;
    const is = name === "Option" && variants.length === 2 && none?.name === "None"
        && none.types.length === 0 && some?.name === "Some" && some.types.length === 1;
    return is ? some.types[0] : undefined;
}

/** Returns whether values of a type are `null` or what it holds. */
function isPlainOption(type: Type): boolean {
    const some = optional(type);
    // `null` inside would be read as no value at all.
    return some !== undefined && optional(some) === undefined;
}

const WORDS = ["bool", "f32", "f64"];

function isSize(value: unknown, least = 0): boolean {
    return Number.isSafeInteger(value) && (value as number) >= least;
}

/** Refuses what is no type: it comes from a node. */
export function checkType(type: Type): void {
    const wrong = () => new TypeError("the layout has what is no type");
    if (WORDS.includes(type as string)) return;
    if (typeof type !== "object" || type === null || Object.keys(type).length !== 1) throw wrong();
    const all = (types: Type[]) => {
        if (!Array.isArray(types)) throw wrong();
        types.forEach(checkType);
    };
    if ("uint" in type && isSize(type.uint, 1)) return;
    if ("int" in type && isSize(type.int, 1)) return;
    if ("text" in type && isSize(type.text)) return;
    if ("fixed" in type && isSize(type.fixed?.int) && isSize(type.fixed?.frac)) return;
    if ("array" in type && isSize(type.array?.len)) return checkType(type.array.elem);
    if ("tuple" in type) return all(type.tuple);
    if ("struct" in type) return checkFields(type.struct?.fields);
    if (!("enum" in type) || !Array.isArray(type.enum?.variants)) throw wrong();
    if (typeof type.enum.name !== "string" || type.enum.variants.length === 0) throw wrong();
    for (const variant of type.enum.variants) {
        if (typeof variant?.name !== "string") throw wrong();
        all(variant.types);
    }
}

/** Refuses what are no names with types. */
export function checkFields(fields: Field[]): void {
    const named = (field: Field) => typeof field?.name === "string";
    if (!Array.isArray(fields) || !fields.every(named)) {
        throw new TypeError("the layout has fields without names");
    }
    fields.forEach((field) => checkType(field.type));
}

function integer(value: Value, bits: number, signed: boolean): bigint {
    const safe = typeof value === "bigint" || Number.isSafeInteger(value);
    if (!safe) throw new RangeError("an integer is needed: a bigint, or a safe number");
    const number = BigInt(value as number | bigint);
    const [least, most] = signed
        ? [-(1n << BigInt(bits - 1)), 1n << BigInt(bits - 1)]
        : [0n, 1n << BigInt(bits)];
    if (number < least || number >= most) throw new RangeError(`it does not fit into ${bits} bits`);
    return number;
}

function push(bits: boolean[], more: boolean[]): void {
    for (const bit of more) bits.push(bit);
}

function list(value: Value, length: number): Value[] {
    if (!Array.isArray(value) || value.length !== length) {
        throw new TypeError(`${length} values are needed`);
    }
    return value;
}

/** Appends the bits of a value. An error never repeats it. */
export function encode(type: Type, value: Value, bits: boolean[]): void {
    if (type === "bool") {
        if (typeof value !== "boolean") throw new TypeError("true or false is needed");
        bits.push(value);
    } else if (type === "f32" || type === "f64") {
        if (typeof value !== "number") throw new TypeError("a number is needed");
        const view = new DataView(new ArrayBuffer(8));
        if (type === "f32" && Number.isFinite(value) && !Number.isFinite(Math.fround(value))) {
            throw new RangeError("it is beyond the largest number of the type");
        }
        if (type === "f32") view.setFloat32(0, value, true);
        else view.setFloat64(0, value, true);
        push(bits, bitsOf(view.getBigUint64(0, true), width(type)));
    } else if ("uint" in type) {
        push(bits, bitsOf(integer(value, type.uint, false), type.uint));
    } else if ("int" in type) {
        push(bits, bitsOf(integer(value, type.int, true), type.int));
    } else if ("text" in type) {
        if (typeof value !== "string") throw new TypeError("a text is needed");
        push(bits, encodeText(value, type.text));
    } else if ("fixed" in type) {
        if (!["string", "number", "bigint"].includes(typeof value)) {
            throw new TypeError("a number, or a text that is one, is needed");
        }
        push(bits, encodeFixed(String(value), type.fixed.int, type.fixed.frac));
    } else if ("array" in type) {
        const { len, elem } = type.array;
        for (const element of list(value, len)) encode(elem, element, bits);
    } else if ("tuple" in type) {
        const parts = list(value, type.tuple.length);
        type.tuple.forEach((part, place) => encode(part, parts[place] as Value, bits));
    } else if ("struct" in type) {
        const { fields } = type.struct;
        if (typeof value !== "object" || value === null || Array.isArray(value)) {
            throw new TypeError("an object is needed");
        }
        const known = new Set(fields.map((field) => field.name));
        if (Object.keys(value).some((name) => !known.has(name))) {
            throw new TypeError("an object has a field that the type does not have");
        }
        for (const { name, type: part } of fields) {
            if (!Object.hasOwn(value, name)) throw new TypeError(`there is no field ${name}`);
            encode(part, value[name] as Value, bits);
        }
    } else {
        encodeVariant(type, type.enum.variants, value, bits);
    }
}

function encodeVariant(type: Type, variants: Variants, value: Value, bits: boolean[]): void {
    const end = bits.length + width(type);
    let [chosen, parts]: [number, Value[]] = [-1, []];
    if (value === null) {
        chosen = optional(type) === undefined ? -1 : 0;
    } else if (isPlainOption(type)) {
        [chosen, parts] = [1, [value]];
    } else if (typeof value === "string") {
        chosen = variants.findIndex((variant) => variant.name === value);
    } else if (typeof value === "object" && !Array.isArray(value)) {
        const [variant, ...more] = Object.keys(value);
        if (more.length > 0) throw new TypeError("one variant is needed");
        chosen = variants.findIndex((known) => known.name === variant);
        parts = (variant === undefined ? [] : value[variant]) as Value[];
    }
    const variant = variants[chosen];
    if (variant === undefined) throw new TypeError("the type has no such variant");
    push(bits, bitsOf(BigInt(chosen), tagBits(variants)));
    const given = list(parts, variant.types.length);
    variant.types.forEach((part, place) => encode(part, given[place] as Value, bits));
    while (bits.length < end) bits.push(false);
}

function split(types: Type[], bits: boolean[]): Value[] {
    let start = 0;
    return types.map((type) => {
        const end = start + width(type);
        const value = decode(type, bits.slice(start, end));
        start = end;
        return value;
    });
}

/**
 * Returns the value with these bits. Integers are `bigint`, fixed-point numbers decimal texts; bits
 * that are no text are `hex:` and digits.
 */
export function decode(type: Type, bits: boolean[]): Value {
    if (type === "bool") return bits[0] === true;
    if (type === "f32" || type === "f64") {
        const view = new DataView(new ArrayBuffer(8));
        view.setBigUint64(0, numberOf(bits), true);
        return type === "f32" ? view.getFloat32(0, true) : view.getFloat64(0, true);
    }
    if ("uint" in type) return numberOf(bits);
    if ("int" in type) return BigInt.asIntN(type.int, numberOf(bits));
    if ("text" in type) return decodeText(bits);
    if ("fixed" in type) return decodeFixed(bits, type.fixed.frac);
    if ("array" in type) return split(Array<Type>(type.array.len).fill(type.array.elem), bits);
    if ("tuple" in type) return split(type.tuple, bits);
    if ("struct" in type) {
        const values = split(type.struct.fields.map((field) => field.type), bits);
        return Object.fromEntries(
            type.struct.fields.map(({ name }, place) => [name, values[place] as Value]),
        );
    }
    const { variants } = type.enum;
    const tag = tagBits(variants);
    const variant = variants[Number(numberOf(bits.slice(0, tag)))] ?? variants[0];
    if (variant === undefined) throw new TypeError("the type has no variant");
    const values = split(variant.types, bits.slice(tag));
    if (values.length === 0 && optional(type) !== undefined) return null;
    if (isPlainOption(type)) return values[0] as Value;
    return values.length === 0 ? variant.name : { [variant.name]: values };
}
