// The fields of a destination: what is required first, the rest folded.
import { Stack, UnstyledButton } from '@mantine/core'
import { useState } from 'react'
import { Icon } from '../../ui/Icon'
import { useExportForm } from './ExportForm'
import { ConfigField } from './ConfigField'
import classes from './ConfigFields.module.css'
import type { Field, FormPart } from './fields'
import { fieldsFor } from './values'

export function ConfigFields({ part, isUnfolded = false }: { part: FormPart; isUnfolded?: boolean }) {
  const { form, kind } = useExportForm()
  const [isOpen, setOpen] = useState(isUnfolded)
  const fields = fieldsFor(form.values, kind).filter((field) => field.part === part)
  // Where no secret is required, those there are belong to what most people need.
  const demandsSecret = fields.some(({ kind: each, isRequired }) => each === 'secret' && isRequired)
  const isFirst = ({ isRequired, isDecisive, kind: each }: Field) =>
    isRequired || isDecisive || (each === 'secret' && !demandsSecret)
  const first = fields.filter(isFirst)
  const rest = fields.filter((field) => !isFirst(field))
  const isShown = isOpen || rest.some(({ name }) => form.errors[name] !== undefined)
  return (
    <Stack gap="md">
      {first.map((field) => (
        <ConfigField key={field.name} field={field} />
      ))}
      {rest.length > 0 && !isUnfolded && (
        <UnstyledButton className={classes.fold} aria-expanded={isShown} onClick={() => setOpen(!isOpen)}>
          <Icon name={isShown ? 'down' : 'chevron'} size={14} />
          {isShown ? 'Fewer settings' : `More settings (${rest.length})`}
        </UnstyledButton>
      )}
      {(isUnfolded || isShown) && rest.map((field) => <ConfigField key={field.name} field={field} />)}
    </Stack>
  )
}
