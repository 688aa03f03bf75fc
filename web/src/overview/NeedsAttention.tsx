import type { UseQueryResult } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ExportStatus } from '../batch-exports/queries'
import { Failed, Loading } from '../ui/States'
import { Status } from '../ui/Status'
import { attentionOf, type AppConfig } from './attention'
import classes from './Overview.module.css'
import { Section } from './Section'

type Props = {
  projectId: string
  exports: UseQueryResult<{ results: ExportStatus[] }>
  apps: UseQueryResult<{ results: AppConfig[] }>
}

/** Nothing is one quiet line. */
export function NeedsAttention({ projectId, exports, apps }: Props) {
  const failed = [exports, apps].find(({ isError, data }) => isError && data === undefined)
  if (failed)
    return (
      <Section title="Needs attention">
        <Failed
          error={failed.error}
          what="The state of exports and apps could not be read."
          onRetry={() => void failed.refetch()}
        />
      </Section>
    )
  if (!exports.data || !apps.data) return <Loading rows={1} label="Loading what needs attention" />
  const found = attentionOf(projectId, exports.data.results, apps.data.results)
  if (found.length === 0)
    return (
      <p className={classes.quiet}>
        <Status kind="delivered">Nothing needs attention.</Status>
      </p>
    )
  return (
    <Section title="Needs attention">
      <ul className={classes.attention}>
        {found.map(({ key, kind, subject, words, detail, link }) => (
          <li key={key}>
            <Link {...link} className={classes.item} data-kind={kind}>
              <Status kind={kind} />
              <span className={classes.words}>
                <b>{subject}</b> {words}
                {detail !== null && <span className={classes.detail}>{detail}</span>}
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </Section>
  )
}
