"""Awards, levels, cards, ratings and leaderboards of opolyx."""
