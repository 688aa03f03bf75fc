import { Page } from '../ui/Page'

export function ExportPage() {
  return <Page title="Export">{null}</Page>
}
