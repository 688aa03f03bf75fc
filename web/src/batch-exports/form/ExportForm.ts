// The form about an export, new or stored, as its parts share it.
import { createContext, use } from 'react'
import type { Form } from '../../ui/form'
import type { Destination } from '../queries'
import type { usePreview } from './preview'
import type { Values } from './values'

export type ExportForm = {
  form: Form<Values>
  kind: Destination
  preview: ReturnType<typeof usePreview>
  /** Secrets that are stored need not be typed again. */
  isStored: boolean
}

export const ExportFormContext = createContext<ExportForm | null>(null)

export function useExportForm(): ExportForm {
  const form = use(ExportFormContext)
  if (form === null) throw new Error('This part belongs inside a form about an export.')
  return form
}
