import { Text } from '@mantine/core'
import { Loading } from '../../ui/States'
import { useExportForm } from './ExportForm'
import classes from './Preview.module.css'

/** Ten real rows, in the columns that the destination would get. */
export function PreviewRows() {
  const { preview } = useExportForm()
  const { columns, rows, errors } = preview.data ?? {}
  const fault = errors?.rows ?? errors?.columns
  return (
    <section aria-label="Rows as they would be exported" className={classes.preview}>
      <div className={classes.title}>Rows as they would be exported</div>
      {preview.isPending ? (
        <Loading rows={3} />
      ) : fault ? (
        <Text size="sm" c="var(--ls-failed)">
          {fault.detail}
        </Text>
      ) : !columns || !rows ? (
        <Text size="sm" c="dimmed">
          The rows cannot be shown yet.
        </Text>
      ) : rows.length === 0 ? (
        <Text size="sm" c="dimmed">
          None of the newest events would be exported. Columns: {columns.map(({ name }) => name).join(', ')}.
        </Text>
      ) : (
        <div className={classes.scroller} tabIndex={0} role="region" aria-label="Rows">
          <table className={classes.table}>
            <thead>
              <tr>
                {columns.map(({ name, type }) => (
                  <th key={name} scope="col">
                    {name} <span className={classes.type}>{type}</span>
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map((row, index) => (
                <tr key={index}>
                  {columns.map(({ name }) => (
                    <td key={name} title={cellText(row[name])}>
                      {cellText(row[name])}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  )
}

function cellText(value: unknown): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}
