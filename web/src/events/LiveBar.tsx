// The live part of the explorer: switched on and off, paused, and how many events wait.
import { Button, Switch } from '@mantine/core'
import type { StreamState } from '../api/stream'
import { countText } from '../ui/format'
import { Icon } from '../ui/Icon'
import { Status } from '../ui/Status'
import classes from './LiveBar.module.css'

type Props = {
  isLive: boolean
  isPaused: boolean
  onLive: (isOn: boolean) => void
  onPause: (isPaused: boolean) => void
}

export function LiveBar({ isLive, isPaused, onLive, onPause }: Props) {
  return (
    <>
      {isLive && (
        <Button
          variant="default"
          leftSection={<Icon name={isPaused ? 'play' : 'pause'} size={14} />}
          onClick={() => onPause(!isPaused)}
        >
          {isPaused ? 'Resume' : 'Pause'}
        </Button>
      )}
      <Switch
        label="Live"
        checked={isLive}
        onChange={(event) => onLive(event.currentTarget.checked)}
        className={classes.live}
      />
    </>
  )
}

export function LiveState({ state, isPaused }: { state: StreamState; isPaused: boolean }) {
  if (isPaused) return <Status kind="held">paused</Status>
  if (state === 'connecting') return <Status kind="waiting">connecting</Status>
  if (state === 'polling') return <Status kind="running">every 5 seconds</Status>
  return <Status kind="delivered">live</Status>
}

type NewProps = { waiting: number; skipped: number; onShow: () => void }

export function NewEvents({ waiting, skipped, onShow }: NewProps) {
  return (
    <div className={classes.news} role="status">
      {waiting > 0 && (
        <Button size="compact-sm" onClick={onShow}>
          Show {countText(waiting)} new {waiting === 1 ? 'event' : 'events'}
        </Button>
      )}
      {skipped > 0 && (
        <span className={classes.skipped}>
          More come than can be shown: {countText(skipped)} are left out.
        </span>
      )}
    </div>
  )
}
