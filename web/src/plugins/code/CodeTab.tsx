// The code of an app at the left, what it does to an event at the right. Saving is one key, trying another.
import { useProject } from '../../api/me'
import type { App } from '../queries'
import { useCodeDenial, useMaySeeCode } from '../rights'
import { readSettings } from '../schema-fields'
import classes from './CodeTab.module.css'
import { EditorPane } from './EditorPane'
import { TryPane } from './TryPane'
import { useFiles } from './useFiles'
import { useTrial } from './useTrial'

export function CodeTab({ projectId, app }: { projectId: string; app: App }) {
  const { organization } = useProject()
  if (useMaySeeCode(app)) return <OwnCode projectId={projectId} app={app} organizationId={organization} />
  return <ForeignCode projectId={projectId} app={app} />
}

/** Code that cannot be seen from here can still be tried. */
function ForeignCode({ projectId, app }: { projectId: string; app: App }) {
  const trial = useTrial(app, null)
  return (
    <div className={classes.panes} data-only>
      <section className={classes.pane} aria-label="Try it">
        <p className={classes.note}>
          {app.plugin_info.plugin_type === 'inline'
            ? 'This app comes with the server.'
            : 'The code of this app belongs to another organization.'}{' '}
          It can be tried, not edited.
        </p>
        <TryPane projectId={projectId} app={app} trial={trial} isDirty={false} />
      </section>
    </div>
  )
}

type OwnProps = { projectId: string; app: App; organizationId: string }

function OwnCode({ projectId, app, organizationId }: OwnProps) {
  const denial = useCodeDenial(app)
  const code = useFiles(organizationId, app.plugin)
  const trial = useTrial(app, code.isDirty ? code.files : null)
  const settings = readSettings(app.plugin_info.config_schema).flatMap((setting) =>
    'note' in setting ? [] : [setting.key],
  )
  return (
    <div className={classes.panes}>
      <EditorPane app={app} code={code} trial={trial} settings={settings} denial={denial} />
      <section className={classes.pane} aria-label="Try it">
        <TryPane projectId={projectId} app={app} trial={trial} isDirty={code.isDirty} />
      </section>
    </div>
  )
}
