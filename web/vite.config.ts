// The console as files that any server can hand out: hashed names, no inline script or style, nothing from another host.
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react()],
  build: {
    target: 'es2022',
    // A policy without `data:` and inline scripts is what serves these files.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // Which files a page is in: src/app/console/ahead.ts has them fetched along with it.
    manifest: 'parts.json',
    sourcemap: false,
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: 'first', tags: ['$initial'], priority: 1 },
            // Pages share many small parts. A browser asks for six files at a time, so these are few.
            { name: 'hooks', test: /@mantine[\\/](hooks|core[\\/]esm[\\/](core|utils))[\\/]/ },
            {
              name: 'lists',
              test: /infiniteQuery|react-virtual|virtual-core|web[\\/]src[\\/]ui[\\/](\w*Table|Status|Details|still-here)\./i,
            },
            { name: 'fields', test: /components[\\/](TextInput|Checkbox|Switch|SegmentedControl)[\\/]/ },
          ],
        },
      },
    },
  },
  server: { proxy: { '/api': 'http://127.0.0.1:8000', '/_preflight': 'http://127.0.0.1:8000' } },
})
