// `longshore demo`: the whole first minute in one command. Sample events are stored, exported as Parquet to a folder, and
// every file is read back and compared.
import { existsSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import type { Config } from '../../app/config.ts'
import { UserError, type Command } from '../command.ts'
import { takeConfig } from '../environment.ts'
import { inDigits } from '../terminal/progress.ts'
import {
  countOf,
  exportSample,
  storeSample,
  rateLine,
  timed,
  verifySample,
  withSample,
  type Sample,
  type Timed,
  type Verified,
} from './steps.ts'

const MARK = '.longshore-demo'

export const demo: Command = {
  name: 'demo',
  description: 'store sample events, export them as Parquet to a folder and verify the files',
  options(command) {
    command
      .option('--events <n>', 'number of events', '1000000')
      .option(
        '--folder <path>',
        'folder for everything the demo makes; it is emptied first',
        './longshore-demo',
      )
  },
  async run(options) {
    const began = Date.now()
    const count = countOf(options)
    const config = takeConfig()
    const folder = resolve(String(options.folder))
    await makeFolder(folder)
    await withSample(folder, async (sample) => {
      const stored = await timed(() => storeSample(sample, count))
      const exported = await timed(() =>
        exportSample(sample, 'Events', { file_format: 'Parquet', compression: 'zstd' }),
      )
      const verified = await timed(() => verifySample(sample, exported.result))
      tell({ stored, exported, verified, folder: sample.services.settings.export_folder, began })
      tellOfConsole(folder, config, sample)
    })
  },
}

/** Only what an earlier demo has made is removed. */
async function makeFolder(folder: string): Promise<void> {
  if (existsSync(folder) && !existsSync(join(folder, MARK))) {
    throw new UserError(`${folder} exists and was not made by an earlier demo: name another with --folder`)
  }
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, MARK), '')
}

function tell({
  stored,
  exported,
  verified,
  folder,
  began,
}: {
  stored: Timed<number>
  exported: Timed<unknown>
  verified: Timed<Verified>
  folder: string
  began: number
}): void {
  const { files, rows, bytes } = verified.result
  const isWhole = rows === stored.result
  process.stdout.write(
    '\n' +
      rateLine('stored', stored, stored.result, 'each durable before it was acknowledged') +
      rateLine(
        'exported',
        exported,
        rows,
        `${files} Parquet files, ${inDigits(Math.round(bytes / 1_000_000))} MB, zstd`,
      ) +
      rateLine('verified', verified, rows, 'rows, bytes and SHA-256 as the runs say') +
      `\n  ${isWhole ? 'Every event is in the files exactly once.' : `${inDigits(stored.result - rows)} events are missing.`}` +
      ` ${((Date.now() - began) / 1000).toFixed(0)} seconds in all.\n` +
      `  Look at them in ${fromHere(folder)}\n\n`,
  )
  if (!isWhole) throw new UserError('the files do not hold what was stored')
}

function tellOfConsole(folder: string, { PORT }: Config, { owner, project }: Sample): void {
  process.stdout.write(
    '  See them in the console:\n\n' +
      `    DATA_DIR=${fromHere(folder)} npx longshore serve\n\n` +
      `  Open http://127.0.0.1:${PORT}/project/${project.id}/exports and sign in as ${owner.email} with the password ` +
      `${owner.password}.\n` +
      '  Look at the proof of the export Events first, then at Events and SQL.\n\n',
  )
}

function fromHere(folder: string): string {
  const path = relative(process.cwd(), folder)
  return path.startsWith('..') ? folder : `./${path}`
}
