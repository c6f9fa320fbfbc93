import { cpSync, mkdirSync, rmSync } from 'node:fs'

/** Puts together what the Worker serves as documents: `dist/site`. */
export function buildSite(out = 'dist/site') {
  rmSync(out, { recursive: true, force: true })
  mkdirSync(out, { recursive: true })
  cpSync('public', out, { recursive: true })
  cpSync('schemas', `${out}/schemas`, { recursive: true })
  cpSync('openapi.json', `${out}/openapi.json`)
}

buildSite()
