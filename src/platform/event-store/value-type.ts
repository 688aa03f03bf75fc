// What values can be, in any engine: the compiler tells it of what a query selects, the store of what it holds.

export type Type =
  | {
      kind:
        | 'text'
        /** Text read out of JSON properties: becomes a number or a boolean where one is wanted. */
        | 'property'
        | 'integer'
        | 'float'
        | 'boolean'
        /** An instant. Engines hold it in UTC; functions of time see it in the project's zone. */
        | 'datetime'
        | 'date'
        | 'uuid'
        | 'interval'
        /** JSON text: properties as a whole, or what JSONExtractRaw gives. */
        | 'json'
        | 'null'
        | 'unknown'
      /** Never NULL: where such a value is missing altogether, ClickHouse has a default for it. */
      certain?: boolean
    }
  | { kind: 'array'; item: Type }
  | { kind: 'tuple'; items: readonly Type[] }
