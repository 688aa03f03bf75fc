// Type names that `x::type` and CAST know, and the function each of them is.

const FUNCTIONS: Readonly<Record<string, readonly string[]>> = {
  toInt: [
    'int',
    'integer',
    'bigint',
    'smallint',
    'tinyint',
    'int8',
    'int16',
    'int32',
    'int64',
    'uint8',
    'uint16',
    'uint32',
    'uint64',
  ],
  toFloat: ['float', 'double', 'double precision', 'real', 'numeric', 'decimal', 'float32', 'float64'],
  toString: ['string', 'text', 'varchar', 'char'],
  toBool: ['bool', 'boolean'],
  toDate: ['date', 'date32'],
  toDateTime: ['datetime', 'datetime64', 'timestamp', 'timestamptz'],
  toUUID: ['uuid'],
}

const BY_TYPE = new Map(
  Object.entries(FUNCTIONS).flatMap(([name, types]) => types.map((type) => [type, name])),
)

/** Null for a type that does not exist. Every value may be NULL here, so `Nullable(x)` is `x`; lengths mean nothing. */
export function castFunction(type_name: string): string | null {
  const type = type_name.toLowerCase().trim()
  const inner = /^nullable\((.*)\)$/s.exec(type)?.[1] ?? type
  return BY_TYPE.get(inner.replace(/\([^()]*\)$/, '').trim()) ?? null
}
