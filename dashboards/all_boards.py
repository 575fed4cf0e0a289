"""Every board there is. A new one is a function that gives a panels.Board, named here."""

import boards_of_the_job
import boards_of_the_servers

BOARDS = (
    boards_of_the_job.overview(),
    boards_of_the_job.stragglers(),
    boards_of_the_job.communication(),
    boards_of_the_servers.shards(),
    boards_of_the_servers.storage(),
    boards_of_the_servers.faults(),
    boards_of_the_servers.staleness(),
)
