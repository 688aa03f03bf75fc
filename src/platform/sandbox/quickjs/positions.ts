// Positions in what an app says and throws, from those of the script that runs to those of the author's file. They are
// turned in every text that leaves the machine, so that no way out tells the wrong ones.
import { SourceMap } from './source-map.ts'

/** What the script is called inside the machine: a name that no app writes by chance. */
export const SCRIPT_NAME = 'longshore-app.js'
/** What people are told: the author's file, or the translated one where it is not known what that stands for. */
const AUTHORS_FILE = 'index.ts'
const TRANSLATED_FILE = 'index.js'

const POSITION = new RegExp(
  String.raw`${SCRIPT_NAME.replace('.', String.raw`\.`)}(?::(\d{1,9})(?::(\d{1,9}))?)?`,
  'g',
)

export class Positions {
  #map: SourceMap | null | undefined

  /** `first_column`: how far the code stands to the right in the first line of the script. */
  constructor(
    private readonly mappings: Uint8Array | null,
    private readonly first_column: number,
  ) {}

  inText(text: string): string {
    if (!text.includes(SCRIPT_NAME)) return text
    return text.replaceAll(POSITION, (_, line?: string, column?: string) =>
      this.#describe(line === undefined ? null : Number(line), column === undefined ? null : Number(column)),
    )
  }

  /** The engine does not always know the column. */
  #describe(line: number | null, column: number | null): string {
    // Read when something goes wrong for the first time: most apps never need it.
    this.#map ??= this.mappings && new SourceMap(this.mappings)
    // In the first line the engine is sometimes one column short.
    const own_column = line === 1 && column !== null ? Math.max(1, column - this.first_column) : column
    if (!this.#map) return written(TRANSLATED_FILE, line, own_column)
    const found = line === null ? null : this.#map.find(line - 1, (own_column ?? Infinity) - 1)
    if (!found) return AUTHORS_FILE
    return written(AUTHORS_FILE, found.line + 1, column === null ? null : found.column + 1)
  }
}

function written(file: string, line: number | null, column: number | null): string {
  return [file, line, column].filter((part) => part !== null).join(':')
}
