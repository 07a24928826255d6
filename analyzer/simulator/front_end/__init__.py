"""From fetched code to the queue in front of the renamer."""
