// What was asked of the API is kept for a moment, and asked again when somebody comes back to the page.
import { QueryClient } from '@tanstack/react-query'
import { Failure } from './api/failure'

const TRIES = 2

export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      retry: (tries, error) => tries < TRIES && error instanceof Failure && error.isPassing,
      // The server knows best whether it can be reached.
      networkMode: 'always',
    },
    mutations: { networkMode: 'always' },
  },
})
