import { activities } from './activities.ts'
import { customers } from './customer.ts'

/** The iGaming vertical: customers and their activity. */
export const igaming = { vertical: 'igaming', resources: [customers, activities] }
