// Functions of PostHog that are not here, each with the nearest one that is.

const INSTEAD: Readonly<Record<string, readonly string[]>> = {
  MD5: [
    'cityHash64',
    'sipHash64',
    'sipHash128',
    'xxHash32',
    'xxHash64',
    'farmHash64',
    'javaHash',
    'murmurHash2_32',
    'murmurHash2_64',
    'murmurHash3_32',
    'murmurHash3_64',
    'murmurHash3_128',
    'metroHash64',
    'halfMD5',
    'intHash32',
    'intHash64',
  ],
  SHA256: ['SHA224', 'SHA384', 'SHA512', 'BLAKE3'],
  groupArray: ['groupArraySample', 'groupArrayMovingSum', 'groupArrayMovingAvg'],
  toFloat: ['toDecimal', 'toDecimal32', 'toDecimal64', 'toDecimal128'],
  toInt: ['toInt128', 'toInt256', 'toUInt128', 'toUInt256', 'reinterpretAsInt64', 'reinterpretAsUInt64'],
  JSONExtractString: ['JSON_VALUE', 'simpleJSONExtractString', 'visitParamExtractString'],
  JSONExtractRaw: ['JSON_QUERY', 'simpleJSONExtractRaw', 'visitParamExtractRaw'],
  JSONExtractInt: ['simpleJSONExtractInt', 'visitParamExtractInt'],
  JSONHas: ['JSON_EXISTS', 'simpleJSONHas', 'visitParamHas'],
  JSONLength: ['JSONArrayLength'],
  JSONExtractKeysAndValuesRaw: ['JSONExtractKeysAndValues'],
  levenshteinDistance: ['ngramDistance', 'ngramSearch', 'jaroSimilarity', 'jaroWinklerSimilarity'],
  extractAll: ['extractGroups', 'extractAllGroups', 'extractAllGroupsHorizontal', 'extractAllGroupsVertical'],
  quantile: ['quantileTDigest', 'quantileTiming', 'quantileDeterministic', 'quantileInterpolatedWeighted'],
  quantiles: ['quantilesTDigest', 'quantilesTiming'],
  toDateTime: ['parseDateTime', 'parseDateTimeOrNull', 'toDateTimeUS'],
  domain: ['netloc', 'domainRFC', 'firstSignificantSubdomain', 'cutToFirstSignificantSubdomain'],
  lag: ['runningDifference', 'neighbor', 'runningAccumulate'],
  multiIf: ['dictGet', 'dictGetOrDefault'],
}

const NEAREST: ReadonlyMap<string, string> = new Map(
  Object.entries(INSTEAD).flatMap(([nearest, names]) => names.map((name) => [name.toLowerCase(), nearest])),
)

export const nearestFunction = (name: string): string | undefined => NEAREST.get(name.toLowerCase())

/** `map`, `mapKeys`, `sumMap`, …: no function of ours does anything like them. */
export const isAboutMaps = (name: string): boolean =>
  /^map($|add|apply|concat|contains|exists|filter|from|keys|partial|populate|reverse|sort|subtract|update|values)|^(sum|min|max|avg)map/i.test(
    name,
  )
