// Icons of the navigation, by address.
import archive from 'lucide-static/icons/archive.svg?raw'
import badgeCheck from 'lucide-static/icons/badge-check.svg?raw'
import gauge from 'lucide-static/icons/gauge.svg?raw'
import gitMerge from 'lucide-static/icons/git-merge.svg?raw'
import heartPulse from 'lucide-static/icons/heart-pulse.svg?raw'
import idCard from 'lucide-static/icons/id-card.svg?raw'
import library from 'lucide-static/icons/library.svg?raw'
import listChecks from 'lucide-static/icons/list-checks.svg?raw'
import rss from 'lucide-static/icons/rss.svg?raw'
import scale from 'lucide-static/icons/scale.svg?raw'
import scrollText from 'lucide-static/icons/scroll-text.svg?raw'
import slidersHorizontal from 'lucide-static/icons/sliders-horizontal.svg?raw'
import store from 'lucide-static/icons/store.svg?raw'
import upload from 'lucide-static/icons/upload.svg?raw'
import userCog from 'lucide-static/icons/user-cog.svg?raw'
import users from 'lucide-static/icons/users.svg?raw'

export const ICONS: Record<string, string> = {
  '/console': gauge,
  '/console/approvals': badgeCheck,
  '/console/catalogue': library,
  '/console/matches': gitMerge,
  '/console/price-reviews': scale,
  '/console/sources': rss,
  '/console/imports': upload,
  '/console/dumps': archive,
  '/console/listings': store,
  '/console/accounts': users,
  '/console/audit': scrollText,
  '/console/health': heartPulse,
  '/console/settings': slidersHorizontal,
  '/console/people': idCard,
  '/console/my-account': userCog,
  '/console/first-steps': listChecks,
}
