// Which tests are to notice a fault in a file, in circles around it: beside it, in its folder, in the rest of its target.
import { dirname } from 'node:path'
import type { Target } from './targets.ts'

export function testsNear(file: string, target: Target, files: readonly string[]): string[][] {
  const tests = files.filter((path) => path.endsWith('.test.ts') && !path.endsWith('.long.test.ts'))
  const beside = file.replace(/\.ts$/, '.test.ts')
  const circles = [
    tests.filter((path) => path === beside),
    tests.filter((path) => dirname(path) === nearestFolder(file, tests)),
    tests.filter((path) => path.startsWith(`${target.folder}/`)),
    [...target.tests],
  ]
  const seen = new Set<string>()
  return circles
    .map((circle) => circle.filter((path) => !seen.has(path) && seen.add(path)))
    .filter((circle) => circle.length > 0)
}

/** The file's own, or the first above it that has tests. */
function nearestFolder(file: string, tests: readonly string[]): string {
  const folder = dirname(file)
  const isNear = folder === '.' || tests.some((path) => dirname(path) === folder)
  return isNear ? folder : nearestFolder(folder, tests)
}
