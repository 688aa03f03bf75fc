// The order of test files. A clean clone does not know how long each takes, and by size alone the suites of attacks, of a few
// lines each, would come last: one worker would be at them while the others had nothing left to do.
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const LONG = /\/test\/(?:attacks|console|end-to-end|every-route)/

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const isLong = ({ moduleId }: TestSpecification) => LONG.test(moduleId)
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))]
  }
}
