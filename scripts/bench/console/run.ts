// The console: what a browser loads, how soon a list is there, how a long table scrolls, what an open page costs.
import { join } from 'node:path'
import { buildProgram } from '../../../test/end-to-end/program.ts'
import { printLeftOpen } from './left-open.ts'
import { printLoading } from './loading.ts'
import { printScrolling } from './scrolling.ts'
import { serveConsole } from './served-console.ts'
import { printSizes } from './sizes.ts'

const CASES = { loading: printLoading, scrolling: printScrolling, open: printLeftOpen }

export async function benchConsole(only: readonly string[]): Promise<boolean> {
  const program = await buildProgram()
  try {
    const results = [await printSizes(join(program.root, 'dist'))]
    const served = await serveConsole(program)
    try {
      for (const [name, print] of Object.entries(CASES))
        if (only.length === 0 || only.includes(name)) results.push(await print(served))
    } finally {
      await served.close()
    }
    return results.every(Boolean)
  } finally {
    await program.remove()
  }
}
