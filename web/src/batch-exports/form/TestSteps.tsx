// The tests of a destination, run one by one: each appears when the one before has passed, and says what to do when it
// fails.
import { Button, Text } from '@mantine/core'
import { useState } from 'react'
import { toFailure } from '../../api/failure'
import { Status, type StatusKind } from '../../ui/Status'
import classes from './TestSteps.module.css'

type Step = { name: string; description: string }
type Result = { status: 'Passed' | 'Failed'; message: string | null }
type Props = {
  steps: readonly Step[]
  runStep: (index: number) => Promise<Result>
  onEnd?: (hasPassed: boolean) => void
}
type Shown = { kind: StatusKind; message: string | null }

export function TestSteps({ steps, runStep, onEnd }: Props) {
  const [shown, setShown] = useState<readonly Shown[]>([])
  const [isBusy, setBusy] = useState(false)

  const run = async () => {
    setBusy(true)
    const results: Shown[] = []
    for (const index of steps.keys()) {
      setShown([...results, { kind: 'running', message: null }])
      results.push(await tryStep(() => runStep(index)))
      setShown([...results])
      if (results.at(-1)!.kind === 'failed') break
    }
    setBusy(false)
    onEnd?.(results.every(({ kind }) => kind === 'delivered'))
  }
  const hasPassed = shown.length === steps.length && shown.every(({ kind }) => kind === 'delivered')

  return (
    <div className={classes.test}>
      <Button variant="default" loading={isBusy} onClick={() => void run()}>
        {shown.length === 0 ? 'Test the connection' : 'Test it again'}
      </Button>
      <ol className={classes.steps} aria-live="polite">
        {shown.map(({ kind, message }, index) => (
          <li key={steps[index]!.name} className={classes.step} data-kind={kind}>
            <Status kind={kind}>{steps[index]!.name}</Status>
            {kind === 'failed' && (
              <div className={classes.why}>
                <Text size="sm">{message ?? 'It failed without saying why.'}</Text>
                <Text size="sm" c="dimmed">
                  This step {lowered(steps[index]!.description)}
                </Text>
              </div>
            )}
          </li>
        ))}
      </ol>
      {hasPassed && (
        <Text size="sm" c="dimmed" role="status">
          All tests passed.
        </Text>
      )}
    </div>
  )
}

/** Descriptions begin with what the step does: `Checks that …`. */
const lowered = (text: string): string => text.slice(0, 1).toLowerCase() + text.slice(1)

async function tryStep(run: () => Promise<Result>): Promise<Shown> {
  try {
    const { status, message } = await run()
    return { kind: status === 'Passed' ? 'delivered' : 'failed', message }
  } catch (error) {
    return { kind: 'failed', message: toFailure(error).message }
  }
}
