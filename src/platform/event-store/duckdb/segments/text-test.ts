// Looking for a text in JSON before the JSON is read, which takes a third of the time. A test may find too much, never too
// little: it holds for every JSON that has the text as a value, however it is written there.

/** More of them take as long as reading the JSON. */
const MAX_TEXTS = 4

/** Holds where a property can be one of the texts; null when only reading the JSON tells. */
export function testForTexts(texts: readonly string[]): string | null {
  if (texts.length === 0 || texts.length > MAX_TEXTS || !texts.every(isWrittenAsIs)) return null
  // Any character may be written as `\u` and its number.
  const needles = [...texts.map(fromRarest), '\\u']
  return `(${needles.map((needle) => `contains(properties, '${needle.replaceAll("'", "''")}')`).join(' OR ')})`
}

/**
 * A text that stands in JSON letter by letter, unless it is written with `\u`: without what has other escapes. It begins
 * with a letter, so it is none of a number, which comes out in another form than it was written in (`1e2` as `100.0`), nor
 * of an object or a list, which come out without spaces.
 */
function isWrittenAsIs(text: string): boolean {
  return (
    text.length >= 3 &&
    /^\p{L}[^"\\/\p{Cc}]*$/u.test(text) &&
    !/^(inf|nan)/i.test(text) &&
    text.isWellFormed()
  )
}

/** By how often they are found in events; what is not among them is rarer. */
const MOST_COMMON_FIRST = 'eatosrnicdlm0123456789ub-pfhgv_.wk xyqjz'

/** The engine looks for the first character and then compares: the end of the text that begins with the rarest. */
function fromRarest(text: string): string {
  const characters = [...text]
  const rank = (character: string) => {
    const place = MOST_COMMON_FIRST.indexOf(character)
    return place === -1 ? MOST_COMMON_FIRST.length : place
  }
  let start = 0
  for (let at = 1; at <= characters.length - 3; at++) {
    if (rank(characters[at]!) > rank(characters[start]!)) start = at
  }
  return characters.slice(start).join('')
}
