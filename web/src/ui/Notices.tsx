import { CloseButton } from '@mantine/core'
import { useSyncExternalStore } from 'react'
import { currentNotices, dismiss, onNotices } from './notify'
import classes from './Notices.module.css'

/** What changes did, at the lower right, read aloud as it comes. */
export function Notices() {
  const notices = useSyncExternalStore(onNotices, currentNotices)
  return (
    <div className={classes.notices} role="status" aria-live="polite">
      {notices.map(({ id, message, isRefusal }) => (
        <div key={id} className={classes.notice} data-refusal={isRefusal || undefined}>
          <span>{message}</span>
          <CloseButton aria-label="Dismiss" size="sm" onClick={() => dismiss(id)} />
        </div>
      ))}
    </div>
  )
}
