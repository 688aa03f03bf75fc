// Whether a text is a regular expression that the engines' RE2 can read. A filter with a bad one matches nothing, while
// the engine would stop the whole query. Patterns that are well formed but too large still end there, as a 400.

type State = {
  pattern: string
  at: number
  /** Whether there is something that `*` could repeat. */
  has_operand: boolean
  /** The last thing was a repetition: `a**` is not allowed. */
  is_repeated: boolean
  /** How often the operand repeats within itself: RE2 allows a thousand in all, nested ones multiplied. */
  operand_repeats: number
  /** The most that any operand of the group repeats. */
  group_repeats: number
  /** `group_repeats` of the groups round this one. */
  outer: number[]
  /** No `:]` is left in the pattern. */
  has_no_posix_end: boolean
}

const MAX_REPEATS = 1000
const QUANTIFIER = /\{(0|[1-9]\d{0,7})(,(0|[1-9]\d{0,7})?)?\}/y
const GROUP_START = /\(\?(?:P<[\p{L}\p{M}\p{N}\p{Pc}]+>|[imsU]*(?:-[imsU]+)?[:)])/uy
const LETTER_ESCAPE =
  /\\(?:[afnrtv]|0[0-7]{0,2}|[1-7][0-7]{1,2}|x[\da-fA-F]{2}|x\{0*[\da-fA-F]{1,6}\}|[!-/:-@[-`{-~ ])/y
const CLASS_ESCAPE = /\\[dDsSwW]/y
const EMPTY_WIDTH_ESCAPE = /\\[AbBCz]/y
const UNICODE_CLASS = /\\[pP](?:\{\^?([^}]*)\}|([^{]))/uy
const POSIX_CLASS =
  /^\^?(?:alnum|alpha|ascii|blank|cntrl|digit|graph|lower|print|punct|space|upper|word|xdigit)$/
const LARGEST_CODE_POINT = 0x10ffff

const UNICODE_NAMES = new Set(
  `Any C Cc Cf Co Cs L Ll Lm Lo Lt Lu M Mc Me Mn N Nd Nl No P Pc Pd Pe Pf Pi Po Ps S Sc Sk Sm So Z Zl Zp Zs
  Adlam Ahom Anatolian_Hieroglyphs Arabic Armenian Avestan Balinese Bamum Bassa_Vah Batak Bengali Bhaiksuki Bopomofo
  Brahmi Braille Buginese Buhid Canadian_Aboriginal Carian Caucasian_Albanian Chakma Cham Cherokee Chorasmian Common
  Coptic Cuneiform Cypriot Cypro_Minoan Cyrillic Deseret Devanagari Dives_Akuru Dogra Duployan Egyptian_Hieroglyphs
  Elbasan Elymaic Ethiopic Georgian Glagolitic Gothic Grantha Greek Gujarati Gunjala_Gondi Gurmukhi Han Hangul
  Hanifi_Rohingya Hanunoo Hatran Hebrew Hiragana Imperial_Aramaic Inherited Inscriptional_Pahlavi
  Inscriptional_Parthian Javanese Kaithi Kannada Katakana Kawi Kayah_Li Kharoshthi Khitan_Small_Script Khmer Khojki
  Khudawadi Lao Latin Lepcha Limbu Linear_A Linear_B Lisu Lycian Lydian Mahajani Makasar Malayalam Mandaic Manichaean
  Marchen Masaram_Gondi Medefaidrin Meetei_Mayek Mende_Kikakui Meroitic_Cursive Meroitic_Hieroglyphs Miao Modi
  Mongolian Mro Multani Myanmar Nabataean Nag_Mundari Nandinagari New_Tai_Lue Newa Nko Nushu Nyiakeng_Puachue_Hmong
  Ogham Ol_Chiki Old_Hungarian Old_Italic Old_North_Arabian Old_Permic Old_Persian Old_Sogdian Old_South_Arabian
  Old_Turkic Old_Uyghur Oriya Osage Osmanya Pahawh_Hmong Palmyrene Pau_Cin_Hau Phags_Pa Phoenician Psalter_Pahlavi
  Rejang Runic Samaritan Saurashtra Sharada Shavian Siddham SignWriting Sinhala Sogdian Sora_Sompeng Soyombo Sundanese
  Syloti_Nagri Syriac Tagalog Tagbanwa Tai_Le Tai_Tham Tai_Viet Takri Tamil Tangsa Tangut Telugu Thaana Thai Tibetan
  Tifinagh Tirhuta Toto Ugaritic Vai Vithkuqi Wancho Warang_Citi Yezidi Yi Zanabazar_Square`.split(/\s+/),
)

/** Every character that means something in a pattern, made to stand for itself. */
export function escapePattern(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')
}

export function isRe2(pattern: string): boolean {
  const state: State = {
    pattern,
    at: 0,
    has_operand: false,
    is_repeated: false,
    operand_repeats: 1,
    group_repeats: 1,
    outer: [],
    has_no_posix_end: false,
  }
  while (state.at < pattern.length) {
    if (!readNext(state)) return false
  }
  return state.outer.length === 0
}

function readNext(state: State): boolean {
  const { pattern } = state
  switch (pattern[state.at]) {
    case '(':
      return readGroupStart(state)
    case ')':
      return readGroupEnd(state)
    case '|':
      endBranch(state)
      state.at++
      return true
    case '[':
      return readClass(state) && addOperand(state)
    case '*':
    case '+':
    case '?':
      state.at++
      return addRepetition(state, 1)
    case '{':
      return readQuantifier(state)
    case '\\':
      return readEscape(state)
    default:
      state.at += charAt(state).length
      return addOperand(state)
  }
}

function addOperand(state: State): true {
  closeOperand(state)
  state.has_operand = true
  state.is_repeated = false
  return true
}

function closeOperand(state: State): void {
  state.group_repeats = Math.max(state.group_repeats, state.operand_repeats)
  state.operand_repeats = 1
}

function endBranch(state: State): void {
  closeOperand(state)
  state.has_operand = false
  state.is_repeated = false
}

function addRepetition(state: State, count: number): boolean {
  if (!state.has_operand || state.is_repeated) return false
  if (state.pattern[state.at] === '?') state.at++
  state.is_repeated = true
  state.operand_repeats *= Math.max(count, 1)
  return count < 2 || state.operand_repeats <= MAX_REPEATS
}

/** `{` that opens no quantifier stands for itself. */
function readQuantifier(state: State): boolean {
  const match = matchAt(QUANTIFIER, state)
  if (!match) {
    state.at++
    return addOperand(state)
  }
  const [text, least, comma, most] = match
  state.at += text.length
  const low = Number(least)
  const high = comma === undefined || most === undefined ? low : Number(most)
  if (low > MAX_REPEATS || high > MAX_REPEATS || high < low) return false
  return addRepetition(state, high)
}

function readGroupStart(state: State): boolean {
  const isPlain = state.pattern[state.at + 1] !== '?'
  const start = isPlain ? '(' : matchAt(GROUP_START, state)?.[0]
  if (start === undefined) return false
  state.at += start.length
  if (start.endsWith(')')) {
    // Flags alone are nothing to repeat, but what stands before them is.
    state.is_repeated = false
    return true
  }
  closeOperand(state)
  state.outer.push(state.group_repeats)
  state.group_repeats = 1
  state.has_operand = false
  state.is_repeated = false
  return true
}

function readGroupEnd(state: State): boolean {
  const outer = state.outer.pop()
  if (outer === undefined) return false
  closeOperand(state)
  const repeats = state.group_repeats
  state.group_repeats = outer
  state.at++
  addOperand(state)
  state.operand_repeats = repeats
  return true
}

function readEscape(state: State): boolean {
  if (state.pattern.startsWith('\\Q', state.at)) return readQuoted(state)
  const isRead =
    readOne(CLASS_ESCAPE, state) ||
    readOne(EMPTY_WIDTH_ESCAPE, state) ||
    readUnicodeClass(state) ||
    readLetter(state) !== null
  return isRead && addOperand(state)
}

function readQuoted(state: State): true {
  const start = state.at + 2
  const end = state.pattern.indexOf('\\E', start)
  state.at = end === -1 ? state.pattern.length : end + 2
  if (end !== start && start < state.pattern.length) addOperand(state)
  else state.is_repeated = false
  return true
}

function readClass(state: State): boolean {
  const { pattern } = state
  state.at++
  if (pattern[state.at] === '^') state.at++
  const start = state.at
  while (pattern[state.at] !== ']' || state.at === start) {
    if (state.at >= pattern.length || !readClassItem(state)) return false
  }
  state.at++
  return true
}

function readClassItem(state: State): boolean {
  const posixEnd = state.pattern.startsWith('[:', state.at) ? findPosixEnd(state) : -1
  if (posixEnd !== -1) {
    const name = state.pattern.slice(state.at + 2, posixEnd)
    state.at = posixEnd + 2
    return POSIX_CLASS.test(name)
  }
  if (readOne(CLASS_ESCAPE, state) || readUnicodeClass(state)) return true
  const low = readLetter(state)
  if (low === null) return false
  const { pattern, at } = state
  if (pattern[at] !== '-' || at + 1 >= pattern.length || pattern[at + 1] === ']') return true
  state.at++
  const high = readLetter(state)
  return high !== null && high >= low
}

/** Looked for once only when there is none: a long pattern may open many. */
function findPosixEnd(state: State): number {
  if (state.has_no_posix_end) return -1
  const end = state.pattern.indexOf(':]', state.at + 2)
  state.has_no_posix_end = end === -1
  return end
}

/** One character, written plainly or escaped; its code point, or null when it is none. */
function readLetter(state: State): number | null {
  if (state.at >= state.pattern.length) return null
  if (state.pattern[state.at] !== '\\') {
    const char = charAt(state)
    state.at += char.length
    return char.codePointAt(0)!
  }
  const text = matchAt(LETTER_ESCAPE, state)?.[0]
  if (text === undefined) return null
  state.at += text.length
  const code = codeOf(text.slice(1))
  return code > LARGEST_CODE_POINT ? null : code
}

function codeOf(escape: string): number {
  if (escape.startsWith('x')) return Number.parseInt(escape.replaceAll(/[x{}]/g, ''), 16)
  if (/^\d/.test(escape)) return Number.parseInt(escape, 8)
  const control = { a: 7, f: 12, n: 10, r: 13, t: 9, v: 11 }
  return control[escape as keyof typeof control] ?? escape.codePointAt(0)!
}

function readUnicodeClass(state: State): boolean {
  const match = matchAt(UNICODE_CLASS, state)
  if (!match || !UNICODE_NAMES.has(match[1] ?? match[2] ?? '')) return false
  state.at += match[0].length
  return true
}

function readOne(expected: RegExp, state: State): boolean {
  const match = matchAt(expected, state)
  if (match) state.at += match[0].length
  return match !== null
}

function matchAt(expected: RegExp, { pattern, at }: State): RegExpExecArray | null {
  expected.lastIndex = at
  return expected.exec(pattern)
}

function charAt({ pattern, at }: State): string {
  return String.fromCodePoint(pattern.codePointAt(at)!)
}
