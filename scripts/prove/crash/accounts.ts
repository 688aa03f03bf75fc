// What exports say of themselves: at any moment the parts make the whole, and nothing that was exported comes back.
import { totalsOf, type MadeExport } from './api.ts'
import type { Ledger } from './ledger.ts'

export class Accounts {
  readonly #fault: (text: string) => void
  /** What each export had delivered when its account was last asked for. */
  readonly #exported = new Map<string, number>()

  constructor(fault: (text: string) => void) {
    this.#fault = fault
  }

  async check(url: string, made: MadeExport, may_skip: boolean): Promise<void> {
    const totals = await totalsOf(url, made)
    const { received, exported, filtered_out, pending, skipped } = totals
    if (received !== exported + filtered_out + pending + skipped || Math.min(...Object.values(totals)) < 0)
      this.#fault(`${made.name}: ${JSON.stringify(totals)} does not add up`)
    const before = this.#exported.get(made.id) ?? 0
    if (exported < before) this.#fault(`${made.name}: ${exported} exported, and ${before} before`)
    if (filtered_out > 0 || (!may_skip && skipped > 0))
      this.#fault(`${made.name}: ${filtered_out} filtered out and ${skipped} skipped`)
    this.#exported.set(made.id, exported)
  }

  /** With what was found at the places. A table does not say which run a row came with. */
  compare(exports: readonly MadeExport[], ledger: Ledger): void {
    for (const { id, name, kind } of exports) {
      if (kind === 'table') continue
      const [said, found] = [this.#exported.get(id), ledger.delivered(name)]
      if (said !== found) this.#fault(`${name}: ${said} exported by its account, ${found} are there`)
    }
  }
}
