import { answer, openApi } from './client'

export async function signOut(): Promise<void> {
  await answer(openApi.POST('/api/logout/', {})).catch(() => {})
  // A new page: nothing of the old session stays in memory.
  location.assign('/login')
}
