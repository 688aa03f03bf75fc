import { Anchor, Text } from '@mantine/core'
import { Link, type LinkProps } from '@tanstack/react-router'
import { countText } from '../../ui/format'
import { linkToExport, useExportPath } from '../addresses'
import type { ExportPath, IntervalAccount, Verification } from '../queries'
import { healingOf } from './healing'
import classes from './ReadBack.module.css'

type Props = { result: Verification; accounts: readonly IntervalAccount[] }

/** Each problem that reading back has found, with what heals it. */
export function Problems({ result: { problems, problems_count, notes }, accounts }: Props) {
  const path = useExportPath()
  return (
    <>
      {problems.length > 0 && (
        <ul className={classes.problems} aria-label="Problems" tabIndex={0}>
          {problems.map((problem, index) => {
            const button = buttonOf(problem, accounts, path)
            return (
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
                  {button !== null && (
                    <Anchor size="sm" fw={500} renderRoot={(props) => <Link {...button.link} {...props} />}>
                      {button.label}
                    </Anchor>
                  )}
                </div>
                {button === null && (
                  <Text size="sm" className={classes.heal}>
                    {problem.what_to_do}
                  </Text>
                )}
              </li>
            )
          })}
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

function buttonOf(
  problem: Verification['problems'][number],
  accounts: readonly IntervalAccount[],
  path: ExportPath,
): { label: string; link: LinkProps } | null {
  const healing = healingOf(problem, accounts)
  switch (healing?.act) {
    case 'repair':
      return {
        label: 'Repair its interval',
        link: linkToExport(path, 'proof', { ...healing.range, ask: 'repair' }),
      }
    case 'retry':
      return { label: 'Retry the run', link: linkToExport(path, 'proof', { run: healing.run }) }
    case 'test':
      return { label: 'Test the destination', link: linkToExport(path, 'settings') }
    default:
      return null
  }
}
