// The `mappings` of a source map (ECMA-426) with one source, looked up without unfolding it: a large script has millions
// of segments. Every so many segments the state of the reader is kept, and a look-up reads on from there.

/** All count from 0. */
export type SourcePosition = { line: number; column: number }

const EVERY = 128
const SEMICOLON = 0x3b
const DIGITS = new Int8Array(128).fill(-1)
for (const [value, char] of [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'].entries())
  DIGITS[char.charCodeAt(0)] = value

type State = {
  at: number
  line: number
  column: number
  source_line: number
  source_column: number
}

export class SourceMap {
  readonly #marks: State[] = []

  constructor(private readonly mappings: Uint8Array) {
    let count = 0
    const state: State = { at: 0, line: 0, column: 0, source_line: 0, source_column: 0 }
    this.#marks.push({ ...state })
    while (this.#next(state)) if (++count % EVERY === 0) this.#marks.push({ ...state })
  }

  /** Where the last segment at or before this place comes from; null before the first one. */
  find(line: number, column: number): SourcePosition | null {
    const state = { ...this.#markBefore(line, column) }
    let found: SourcePosition | null =
      isAtOrBefore(state, line, column) && state.at > 0 ? sourceOf(state) : null
    while (this.#next(state) && isAtOrBefore(state, line, column)) found = sourceOf(state)
    return found
  }

  #markBefore(line: number, column: number): State {
    let [low, high] = [0, this.#marks.length - 1]
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (isAtOrBefore(this.#marks[middle]!, line, column)) low = middle
      else high = middle - 1
    }
    return this.#marks[low]!
  }

  /** Reads the next segment into the state; false at the end. */
  #next(state: State): boolean {
    const { mappings } = this
    for (; state.at < mappings.length; state.at++) {
      if (mappings[state.at] === SEMICOLON) {
        state.line++
        state.column = 0
      } else if (this.#isDigit(state.at)) {
        this.#readSegment(state)
        return true
      }
    }
    return false
  }

  /** Column, source, line and column there, name: each but the first may be missing, each says how far it moved. */
  #readSegment(state: State): void {
    const moves = [0, 0, 0, 0, 0]
    for (let field = 0; field < moves.length && this.#isDigit(state.at); field++)
      moves[field] = this.#readNumber(state)
    state.column += moves[0]!
    state.source_line += moves[2]!
    state.source_column += moves[3]!
  }

  #isDigit(at: number): boolean {
    return (DIGITS[this.mappings[at] ?? 127] ?? -1) >= 0
  }

  /** Base 64, least first: five bits a digit, the sixth says that more follow; the sign is the lowest bit of all. */
  #readNumber(state: State): number {
    let value = 0
    for (let shift = 0; this.#isDigit(state.at); shift += 5) {
      const digit = DIGITS[this.mappings[state.at++]!]!
      value += (digit & 31) * 2 ** shift
      if ((digit & 32) === 0) break
    }
    return value % 2 === 1 ? -(value - 1) / 2 : value / 2
  }
}

function isAtOrBefore(state: State, line: number, column: number): boolean {
  return state.line < line || (state.line === line && state.column <= column)
}

function sourceOf({ source_line, source_column }: State): SourcePosition {
  return { line: source_line, column: source_column }
}
