import { Anchor, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { countText } from '../../ui/format'
import { linkToExport, useExportPath } from '../addresses'
import type { Verification } from '../queries'
import classes from './ReadBack.module.css'

/** Each problem that reading back has found, with what heals it. */
export function Problems({ result: { problems, problems_count, notes } }: { result: Verification }) {
  const path = useExportPath()
  return (
    <>
      {problems.length > 0 && (
        <ul className={classes.problems} aria-label="Problems" tabIndex={0}>
          {problems.map((problem, index) => (
            <li key={index} className={classes.problem}>
              <div>{problem.message}</div>
              <div className={classes.facts}>
                <span>{problem.kind.replaceAll('_', ' ')}</span>
                {problem.file !== null && <span className="mono">{problem.file}</span>}
                {problem.uuid !== null && <span className="mono">{problem.uuid}</span>}
                {problem.position !== null && <span>position {countText(problem.position)}</span>}
                {problem.run !== null && (
                  <Anchor
                    size="sm"
                    renderRoot={(props) => (
                      <Link {...linkToExport(path, 'proof', { run: problem.run! })} {...props} />
                    )}
                  >
                    Open its run
                  </Anchor>
                )}
              </div>
              <Text size="sm" className={classes.heal}>
                {problem.what_to_do}
              </Text>
            </li>
          ))}
        </ul>
      )}
      {problems_count > problems.length && (
        <Text size="sm" c="dimmed" mt={4}>
          The first {countText(problems.length)} of {countText(problems_count)}.
        </Text>
      )}
      {notes.length > 0 && (
        <ul className={classes.notes}>
          {notes.map((note) => (
            <li key={note}>{note}</li>
          ))}
        </ul>
      )}
    </>
  )
}
