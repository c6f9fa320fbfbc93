import { migrateOnce } from './service.ts'

// Runs once before all files of `npm test`.

export const globalSetup = () => {
  deleteCopy = migrateOnce()
}
export const globalTeardown = () => deleteCopy()

let deleteCopy = () => {}
