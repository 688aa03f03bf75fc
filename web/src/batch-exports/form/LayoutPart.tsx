// How it lies at the destination: format, names, table; with the names of the next files or the table's SQL.
import { Stack, Text } from '@mantine/core'
import { Loading } from '../../ui/States'
import { ConfigFields } from './ConfigFields'
import { useExportForm } from './ExportForm'
import classes from './Preview.module.css'
import { fieldsFor } from './values'

export function LayoutPart() {
  const { form, kind } = useExportForm()
  const hasFields = fieldsFor(form.values, kind).some(({ part }) => part === 'layout')
  return (
    <Stack gap="md">
      {hasFields ? (
        <ConfigFields part="layout" isUnfolded />
      ) : (
        <Text c="dimmed">There is nothing to choose for this destination.</Text>
      )}
      <PreviewLayout />
    </Stack>
  )
}

function PreviewLayout() {
  const { preview } = useExportForm()
  const { files, ddl, errors } = preview.data ?? {}
  const fault = errors?.files ?? errors?.ddl
  if (preview.isPending) return <Loading rows={3} />
  if (!fault && !files && !ddl) return null
  return (
    <section aria-label="Preview of the layout" className={classes.preview}>
      <div className={classes.title}>
        {ddl ? 'The table, made by the first run if it does not exist' : 'Files of the next runs'}
      </div>
      {fault ? (
        <Text size="sm" c="var(--ls-failed)">
          {fault.detail}
        </Text>
      ) : ddl ? (
        <pre className={`mono ${classes.ddl}`} tabIndex={0}>
          {ddl}
        </pre>
      ) : (
        <ul className={classes.names}>
          {files!.map((name) => (
            <li key={name} className="mono">
              {name}
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}
