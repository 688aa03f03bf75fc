import { Link } from '@tanstack/react-router'
import { Icon } from '../../ui/Icon'
import { newRoute } from '../addresses'
import type { Values } from '../form/values'
import type { Destination } from '../queries'
import { STEPS, type Step } from '../search'
import classes from './NewExportPage.module.css'
import { chosenIn, lacks } from './steps'

type Props = {
  values: Values
  kind: Destination | undefined
  current: Step
  titles: Record<Step, string>
  /** What is known to be wrong in a step. */
  faults: Partial<Record<Step, string>>
}

/** The steps with what was chosen in them; one can go back to any, and on to those that follow. */
export function StepList({ values, kind, current, titles, faults }: Props) {
  const { projectId } = newRoute.useParams()
  return (
    <nav aria-label="Steps">
      <ol className={classes.steps}>
        {STEPS.map((step, index) => {
          const isPast = index < STEPS.indexOf(current)
          const fault = isPast ? faults[step] : undefined
          const isDone = isPast && fault === undefined && !lacks(step, values, kind)
          const chosen = chosenIn(step, values, kind)
          const content = (
            <>
              <span className={classes.number}>
                {isDone ? (
                  <Icon name="check" size={12} />
                ) : fault === undefined ? (
                  index + 1
                ) : (
                  <Icon name="warning" size={12} />
                )}
              </span>
              <span className={classes.name}>{titles[step]}</span>
              {fault !== undefined && <span className="aloud">Needs attention: {fault}</span>}
              {chosen !== null && (isPast || step === current) && (
                <span className={classes.chosen}>{chosen}</span>
              )}
            </>
          )
          const facts = {
            className: classes.step,
            'data-current': step === current || undefined,
            'data-done': isDone || undefined,
            'data-fault': fault !== undefined || undefined,
            title: fault,
          }
          return (
            <li key={step}>
              {kind || step === 'destination' ? (
                <Link
                  to="/project/$projectId/exports/new"
                  params={{ projectId }}
                  search={{ step }}
                  {...facts}
                >
                  {content}
                </Link>
              ) : (
                <span {...facts} data-off>
                  {content}
                </span>
              )}
            </li>
          )
        })}
      </ol>
    </nav>
  )
}
