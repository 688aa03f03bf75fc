// Trying an app: an event of this project or one that is typed, and what became of it.
import { Checkbox, Select, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { CodeEditor } from '../../ui/code/CodeEditor'
import { FormProblem } from '../../ui/FormProblem'
import { GuardedButton } from '../../ui/Guarded'
import { timeText } from '../../ui/format'
import { Icon } from '../../ui/Icon'
import { useZone } from '../../ui/Values'
import { recentEventsQuery, type App, type RecentEvent } from '../queries'
import { readSettings } from '../schema-fields'
import classes from './TryPane.module.css'
import pane from './CodeTab.module.css'
import { TrialOutcome } from './TrialOutcome'
import type { Trial } from './useTrial'

type Props = { projectId: string; app: App; trial: Trial; isDirty: boolean }

export function TryPane({ projectId, app, trial, isDirty }: Props) {
  const zone = useZone()
  const recent = useQuery(recentEventsQuery(projectId))
  const hasSecrets = readSettings(app.plugin_info.config_schema).some(
    (setting) => !('note' in setting) && setting.isSecret,
  )
  return (
    <div className={pane.try}>
      <div className={classes.tools}>
        <Select
          label="Take a recent event"
          placeholder={recent.data?.length === 0 ? 'No events yet' : 'Choose one, or type below'}
          data={(recent.data ?? []).map((event) => ({
            value: event.id,
            label: `${event.event}, ${timeText(event.timestamp, zone, 'second')}`,
          }))}
          value={null}
          disabled={(recent.data ?? []).length === 0}
          onChange={(id) => {
            const event = recent.data?.find((each) => each.id === id)
            if (event) trial.write(written(event))
          }}
        />
      </div>
      <div className={classes.event}>
        <CodeEditor
          language="json"
          label="The event"
          value={trial.text}
          onChange={trial.write}
          onRun={() => void trial.run()}
          height="200px"
        />
      </div>
      <div className={classes.run}>
        <Checkbox
          label="Let it call addresses outside"
          checked={trial.mayFetch}
          onChange={(event) => trial.setMayFetch(event.currentTarget.checked)}
        />
        <GuardedButton
          denial={trial.denial}
          variant="default"
          leftSection={<Icon name="play" />}
          loading={trial.isBusy}
          onClick={() => void trial.run()}
        >
          Try it
        </GuardedButton>
      </div>
      {isDirty && hasSecrets && (
        <p className="quiet">Code that is not saved is tried without the stored secrets.</p>
      )}
      <FormProblem>{trial.problem}</FormProblem>
      <div role="status" aria-live="polite">
        {trial.result !== null && <TrialOutcome result={trial.result} />}
      </div>
      {trial.result === null && trial.problem === null && (
        <>
          <Title order={2}>Not tried yet</Title>
          <p className="quiet">
            The app runs once on the event above, with the settings of this project. Nothing is stored or
            sent. Ctrl-Enter does the same.
          </p>
        </>
      )}
    </div>
  )
}

/** Without what is only told of stored events. */
function written({ id, event, distinct_id, timestamp, properties }: RecentEvent): string {
  return JSON.stringify({ uuid: id, event, distinct_id, timestamp, properties }, null, 2)
}
