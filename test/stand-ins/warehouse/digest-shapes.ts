// What the statements that read tables back look like, word by word, as regular expressions: each stand-in says how its
// warehouse writes the parts, and refuses anything else.

/** Parts as regular expressions; `value` is what stands for a column. */
export type DigestWords = {
  name: string
  text: string
  text_type: string
  integer_type: string
  parameter: string
  md5(text: string): string
  numberOf(digits: string): string
  micros(value: string): string
  json(value: string): string
  moment: string
  /** CHR unless told. */
  chr?: string
}

/** The hash of a row. */
export function rowHashShape(words: DigestWords): string {
  const { text, md5, chr = 'CHR' } = words
  const marked = `COALESCE\\(${text} \\|\\| ${valueShape(words)}, ${text}\\) \\|\\| ${chr}\\(31\\)`
  return md5(`${marked}( \\|\\| ${marked})*`)
}

function valueShape({ name, text, text_type, integer_type, ...words }: DigestWords): string {
  const asText = (value: string) => `CAST\\(${value} AS ${text_type}\\)`
  const whole = (value: string) => asText(`CAST\\(${value} AS ${integer_type}\\)`)
  return `(${[
    asText(name),
    whole(name),
    `CASE WHEN ${name} THEN ${text} WHEN NOT ${name} THEN ${text} END`,
    asText(words.micros(name)),
    words.json(name),
    floatShape(name, text, whole),
  ].join('|')})`
}

function floatShape(name: string, text: string, whole: (value: string) => string): string {
  const unit = String(2n ** 60n)
  const size = `ABS\\(${name}\\)`
  const parts = (of: string) =>
    `${whole(`FLOOR\\(${of}\\)`)} \\|\\| ${text} \\|\\| ${whole(`FLOOR\\(\\(${of} - FLOOR\\(${of}\\)\\) \\* ${unit}\\)`)}`
  return `CASE WHEN ${name} < 0 THEN ${text} ELSE ${text} END \\|\\| CASE WHEN ${size} < 1e18 THEN ${parts(size)} WHEN ${size} < 1e36 THEN ${parts(`\\(${size} / ${unit}\\)`)} \\|\\| ${text} WHEN ${name} IS NOT NULL THEN ${text} END`
}

export function digestShapes(words: DigestWords): string[] {
  const { name, text, text_type, parameter, numberOf, moment } = words
  const asText = (value: string) => `CAST\\(${value} AS ${text_type}\\)`
  const sum = (from: number) => asText(`SUM\\(${numberOf(`SUBSTRING\\(${name}, ${from}, 8\\)`)}\\)`)
  const bucket = `COALESCE\\(RIGHT\\(LOWER\\(CAST\\(${name} AS ${text_type}\\)\\), 3\\), ${text}\\)`
  const marked = `(CASE WHEN ${name} IS NULL THEN ${text} ELSE ${text} END \\|\\| )?`
  const range = `${name} >= ${moment} AND ${name} < ${moment}`
  const scope = `(\\(${name} = \\d+ OR ${name} IS NULL\\)|\\(${range}( OR ${range})*\\)|1 = 0)`
  const value = valueShape(words)
  const hashed = `SELECT ${marked}(${bucket}|${asText(text)}) AS ${name}, ${rowHashShape(words)} AS ${name} FROM ${name}( WHERE ${scope}( AND ${scope})?)?`
  return [
    `SELECT ${name}, ${asText('COUNT\\(\\*\\)')} AS ${name}, ${sum(1)} AS ${name}, ${sum(9)} AS ${name} FROM \\(${hashed}\\) AS hashed GROUP BY ${name}`,
    `SELECT ${value} AS ${name}(, ${value} AS ${name})* FROM ${name}( WHERE ${scope}( AND ${scope})?( AND ${marked}${bucket} = ${parameter})?| WHERE ${bucket} = ${parameter})?`,
  ]
}
