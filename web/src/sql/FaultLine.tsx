// What is wrong with the text, in words, with the nearest name that exists; a hint when nothing is.
import { Button } from '@mantine/core'
import { Icon } from '../ui/Icon'
import classes from './Sql.module.css'
import type { Fault } from './use-sql'

type Props = { fault: Fault | null; text: string; onReplace: (text: string) => void }

export function FaultLine({ fault, text, onReplace }: Props) {
  return (
    <div className={classes.fault} data-wrong={fault !== null || undefined} role="status" aria-live="polite">
      {fault === null ? (
        <span className={classes.hint}>
          <kbd>Ctrl</kbd> <kbd>Enter</kbd> runs the query, <kbd>Ctrl</kbd> <kbd>Space</kbd> completes names.
        </span>
      ) : (
        <>
          <Icon name="warning" size={14} />
          <span className={classes.words}>
            {text.includes('\n') && <b>Line {lineOf(text, fault.from)}: </b>}
            {fault.message}
          </span>
          {fault.instead !== null && (
            <Button
              size="compact-xs"
              h={22}
              variant="default"
              className={classes.instead}
              onClick={() => onReplace(`${text.slice(0, fault.from)}${fault.instead}${text.slice(fault.to)}`)}
            >
              Use <code>{fault.instead}</code>
            </Button>
          )}
        </>
      )}
    </div>
  )
}

const lineOf = (text: string, offset: number) => text.slice(0, offset).split('\n').length
