"""What learns: PPO, DQN and Q-learning on the engine, self-play, and networks as policies."""
