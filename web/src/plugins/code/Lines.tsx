// A difference as lines that stayed, came or went.
import { folded, type Line } from './difference'
import classes from './Lines.module.css'

export function Lines({ label, lines }: { label: string; lines: readonly Line[] }) {
  return (
    <pre className={`${classes.lines} mono`} tabIndex={0} aria-label={label}>
      {folded(lines).map((line, index) =>
        'left' in line ? (
          <span key={index} className={classes.gap}>
            {line.left === 1 ? '1 line as before' : `${line.left} lines as before`}
          </span>
        ) : (
          <span key={index} className={classes.line} data-mark={line.mark}>
            {line.mark} {line.text}
          </span>
        ),
      )}
    </pre>
  )
}
