import { activities } from './activities.ts'
import { customers } from './customer.ts'

/** iGaming brands: customers, and what they did. */
export const igaming = { vertical: 'igaming', resources: [customers, activities] }
