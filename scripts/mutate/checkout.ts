// A copy of the checkout in which files may be broken: whatever interrupts a run, the tree that people work in stays whole.
import { execFileSync } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readdir, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export type Checkout = {
  root: string
  /** Paths of everything that is, or could be, in version control. */
  files: readonly string[]
  /** As it is in the checkout that was copied. */
  read(file: string): string
  write(file: string, text: string): Promise<void>
  restore(file: string): Promise<void>
}

/** Removed when this process ends, however it does. */
export async function openCheckout(): Promise<Checkout> {
  const origin = process.cwd()
  const root = await mkdtemp(join(tmpdir(), 'longshore-mutate-'))
  process.once('exit', () => rmSync(root, { recursive: true, force: true }))
  const files = filesOf(origin)
  for (const file of files) await cp(join(origin, file), join(root, file), { recursive: true })
  await linkPackages(origin, root)
  const read = (file: string) => readFileSync(join(origin, file), 'utf8')
  const originals = new Map(files.filter((file) => file.endsWith('.ts')).map((file) => [file, read(file)]))
  const write = (file: string, text: string) => writeFile(join(root, file), text)
  return {
    root,
    files,
    read: (file) => originals.get(file)!,
    write,
    restore: (file) => write(file, originals.get(file)!),
  }
}

function filesOf(origin: string): string[] {
  const options = ['ls-files', '--cached', '--others', '--exclude-standard', '--deduplicate', '-z']
  const deleted = new Set(listed(origin, ['ls-files', '--deleted', '-z']))
  return listed(origin, options).filter((file) => !deleted.has(file))
}

function listed(cwd: string, options: readonly string[]): string[] {
  return execFileSync('git', options, { cwd, encoding: 'utf8' }).split('\0').filter(Boolean)
}

/** Package by package: the folder itself is the copy's own, because tests bundle threads into it. */
async function linkPackages(origin: string, root: string): Promise<void> {
  const [from, to] = [join(origin, 'node_modules'), join(root, 'node_modules')]
  await mkdir(to)
  for (const name of await readdir(from)) {
    if (!name.startsWith('.') || name === '.bin') await symlink(join(from, name), join(to, name))
  }
}
