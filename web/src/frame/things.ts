// What a project has by name, for the palette: exports and apps.
import { queryOptions } from '@tanstack/react-query'
import type { LinkProps } from '@tanstack/react-router'
import type { IconName } from '../ui/Icon'

export type Thing = { key: string; label: string; group: string; icon: IconName; link: LinkProps }

export const foundThings = (projectId: string) =>
  queryOptions({
    queryKey: ['things', projectId],
    async queryFn(): Promise<Thing[]> {
      return []
    },
  })
