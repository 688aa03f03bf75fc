// One step of a destination's test, carried out: whatever it throws becomes a result for people to read.
import { invalid } from '../../../platform/http/errors.ts'
import type { Services } from '../../../platform/services.ts'
import type { DestinationKind, TestStep } from '../destinations/destination.ts'
import { redactorOf, scrub } from '../scrub.ts'

type Result = { status: 'Passed' | 'Failed'; message: string | null }
type Config = Record<string, unknown>

/** `config` is whole, with secrets. The signal ends the step when its time is up. */
export async function runStep(
  { outbound, settings }: Pick<Services, 'outbound' | 'settings'>,
  kind: DestinationKind,
  config: Config,
  index: number,
  signal: AbortSignal,
): Promise<{ name: string; description: string; result: Result }> {
  const step = stepAt((await kind.load()).steps, index)
  const { name, description } = step
  try {
    await untilAborted(step.run({ config, outbound, settings, signal }), signal)
    return { name, description, result: { status: 'Passed', message: null } }
  } catch (error) {
    const reason = signal.aborted ? 'The destination did not answer in time.' : messageOf(error)
    const message = scrub(reason, redactorOf(kind, config))
    return { name, description, result: { status: 'Failed', message } }
  }
}

function stepAt(steps: readonly TestStep<Config>[], index: number): TestStep<Config> {
  const step = steps[index]
  if (step) return step
  throw invalid(
    'step',
    'invalid_input',
    `The steps of this destination are numbered from 0 to ${steps.length - 1}.`,
  )
}

/** Not every client looks at the signal at every moment. */
async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = new Promise<never>((_resolve, reject) => {
    const stop = () => reject(new Error('stopped'))
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
  })
  return Promise.race([work, aborted])
}

/** A host with several addresses fails with one error for each, and no message of its own. */
function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return messageOf(error.errors[0])
  const message = error instanceof Error ? error.message : ''
  return message === '' ? 'The step failed without saying why.' : message
}
