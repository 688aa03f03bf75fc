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
    sourcemap: false,
    reportCompressedSize: false,
  },
  server: { proxy: { '/api': 'http://127.0.0.1:8000', '/_preflight': 'http://127.0.0.1:8000' } },
})
