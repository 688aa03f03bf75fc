// Facts as people read them: times in the project's zone, grouped numbers, bytes in units, ids that can be copied.
import { ActionIcon, CopyButton } from '@mantine/core'
import { createContext, use } from 'react'
import { bytesText, countText, timeText, timeTitle, type TimeStyle } from './format'
import { Icon } from './Icon'
import { Tip } from './Tip'
import classes from './Values.module.css'

/** The zone that times are shown in: the project's, or the browser's where no project is open. */
export const ZoneContext = createContext<string | undefined>(undefined)
export const useZone = () => use(ZoneContext)

export function Time({ value, style = 'minute' }: { value: string | null | undefined; style?: TimeStyle }) {
  const zone = useZone()
  if (value === null || value === undefined) return <span className="quiet">never</span>
  return (
    <time dateTime={value} title={timeTitle(value)} className={classes.whole}>
      {timeText(value, zone, style)}
    </time>
  )
}

export function Count({ value }: { value: number | null | undefined }) {
  return <span className={classes.whole}>{typeof value === 'number' ? countText(value) : '–'}</span>
}

export function Bytes({ value }: { value: number | null | undefined }) {
  if (typeof value !== 'number') return <span>–</span>
  return <span title={`${countText(value)} bytes`}>{bytesText(value)}</span>
}

export function CopyIcon({ value, label = 'Copy' }: { value: string; label?: string }) {
  return (
    <CopyButton value={value} timeout={1_500}>
      {({ copied, copy }) => (
        <Tip label={copied ? 'Copied' : label}>
          <ActionIcon onClick={copy} aria-label={copied ? 'Copied' : label} size="sm">
            <Icon name={copied ? 'check' : 'copy'} size={14} />
          </ActionIcon>
        </Tip>
      )}
    </CopyButton>
  )
}

/** An id, a key, a file name: in code type, with a button that copies it whole. */
export function Copyable({ value, shown = value }: { value: string; shown?: string }) {
  return (
    <span className={classes.copyable}>
      <span className={`mono ${classes.value}`}>{shown}</span>
      <CopyIcon value={value} />
    </span>
  )
}
