import { createDatabase } from './migrate.ts'
import { buildOnce } from './service.ts'

// Runs once before all files of `npm test`.

export const globalSetup = async () => {
  deleteCopy = await buildOnce((root) => createDatabase(root, 'DB'))
}
export const globalTeardown = () => deleteCopy()

let deleteCopy = () => {}
